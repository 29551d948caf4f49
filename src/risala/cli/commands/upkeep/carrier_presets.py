"""The aggregators that `driver = "http"` knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.drivers.http.shape import Shape


@click.command("presets")
@common
def presets(options: Options) -> None:
    """List the aggregators that `driver = "http"` has a preset for, and what each needs.

    \b
    Example: risala carriers presets
    """
    from risala.drivers.http.presets import names, preset

    known = [(name, preset(name)) for name in names()]
    listed = [
        {
            "name": name,
            "title": each.title,
            "url": each.url or None,
            "needs": list(each.needs),
            "receipts": each.receipt is not None,
            "inbound": each.inbound is not None,
            "signs": each.proof.kind != "address",
            "source": each.source,
            "read": each.read,
        }
        for name, each in known
    ]
    if output.show(options.json, {"presets": listed}):
        return
    output.table(
        ("Preset", "Aggregator", "Needs", "Receipts", "Texts", "Proves itself by"),
        (
            (
                *(name, each.title, ", ".join(each.needs)),
                *("yes" if has else "no" for has in (each.receipt, each.inbound)),
                _proof(each),
            )
            for name, each in known
        ),
        empty="There are none.",
    )


def _proof(preset: Shape) -> str:
    """By what the calls of an aggregator are its own."""
    if preset.receipt is None and preset.inbound is None:
        return "it never calls"
    return "its address" if preset.proof.kind == "address" else "a signature"
