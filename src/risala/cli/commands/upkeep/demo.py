"""``risala demo``: the phones of a running demo."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

PATH: Final = "/demo/text"
OUR_NUMBER: Final = "1234"
"""The service's own values; a test compares them, so that help needs no service."""


@click.group()
def demo() -> None:
    """The demo's phones, while `risala serve --demo` runs.

    \b
    Example: risala demo text NUMBER STOP
    """


@demo.command()
@click.argument("sender", metavar="FROM")
@click.argument("body", metavar="BODY")
@click.option(
    "--to",
    default=OUR_NUMBER,
    show_default=True,
    metavar="NUMBER",
    help="The number of ours that the phone writes to.",
)
@common
def text(options: Options, sender: str, body: str, to: str) -> None:
    """Let the demo's phone FROM write BODY, as a person would.

    The text goes through the simulated carrier, as any other comes in.

    \b
    Examples:
      risala demo text NUMBER "Is the shop open?"
      risala demo text NUMBER STOP
    """
    # Imported here, because help needs none of it.
    from risala.cli.reach import quick

    directory = quick.data_dir(options.data, options.file)
    if directory is None:
        directory = options.settings().storage.data_dir
    with quick.connected(directory) as gateway:
        if gateway is None:
            raise CommandRefused(_none_runs(directory))
        written = gateway.post(PATH, {"from": sender, "to": to, "body": body})
    if written is None:
        raise CommandRefused(
            f"The service that runs in {directory} is no demo: only a demo's phones write by"
            " command."
        )
    phone, number = written.values()
    if not output.show(options.json, written):
        output.said(f"{output.clean(phone)} wrote to {output.clean(number)}.")


def _none_runs(directory: Path) -> str:
    return (
        f"No demo runs in {directory}. Start one with `risala serve --demo --data {directory}`, or"
        " give the directory of the one that runs with --data."
    )
