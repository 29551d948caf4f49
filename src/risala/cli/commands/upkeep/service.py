"""Running the service."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import output, progress
from risala.sms.currencies import currency_of, example_amount

DATABASE: Final = "risala.db"


def _at_home_in(code: str) -> dict[str, Any]:
    """The settings of a demo that is at home in a country: its numbers, its money."""
    currency = currency_of(code)
    price = example_amount(currency)
    return {
        "numbers__countries": [code],
        "service__currency": currency,
        "pricing__per_segment": price,
        "pricing__low_balance": price,
    }


def used_data(data: Path, file: Path | None) -> Path | None:
    """The data directory that the settings were used with before, where it is another one and the
    present one is empty; None: there is nothing to say."""
    if file is None or (data / DATABASE).exists():
        return None
    from risala.config.faults import ConfigError
    from risala.config.load import load_settings
    from risala.config.model import StorageSection

    folder = file.absolute().parent
    try:
        named = load_settings(file, environ={}).storage.data_dir
    except ConfigError:
        return None
    usual = StorageSection().data_dir
    for each in (named.absolute(), folder / named, folder / usual):
        if each.resolve() != data.resolve() and (each / DATABASE).exists():
            return each.resolve()
    return None


@click.command()
@click.option(
    "--demo", is_flag=True, help="Run with a simulated carrier and phone, an organization and keys."
)
@click.option(
    "--country",
    metavar="CC",
    help="The demo's home: a country's two letters, such as SN. Default: the settings'.",
)
@click.option("--host", help="The address to listen on (default: the settings', 127.0.0.1).")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port (default: the settings', 8080); 0 takes a free one.",
)
@common
def serve(
    options: Options, demo: bool, country: str | None, host: str | None, port: int | None
) -> None:
    """Run the service until SIGINT or SIGTERM; SIGHUP reads the settings again.

    \b
    Examples:
      risala serve --demo
      risala serve --demo --country SN
      risala serve --config /etc/risala/risala.toml --port 8080
    """
    if country is not None and not demo:
        raise click.UsageError("--country goes with --demo. Settings have numbers.countries.")
    if demo and options.data is None:
        # Fresh, so that a demo never mixes with real data.
        options = replace(options, data=Path(tempfile.mkdtemp(prefix="risala-demo-")))
    flags: dict[str, Any] = {"http__host": host, "http__port": port}
    if country is not None:
        flags |= _at_home_in(country.upper())
    settings = options.settings(**flags)
    if demo and "allow_insecure" not in settings.webhooks.model_fields_set:
        # A demo's webhooks are caught by a program on this machine. One for strangers says no.
        flags["webhooks__allow_insecure"] = True
        settings = options.settings(**flags)
    if not demo and (used := used_data(settings.storage.data_dir, options.file)) is not None:
        output.warned(
            f"The data directory {settings.storage.data_dir.absolute()} is empty: a new service"
            f" begins there. These settings were used with {used}, where a database is. To go on"
            f" with that one, stop this and start it with --data {used}"
        )
    from risala.app import run_service

    load = options.loader(**flags)
    raise SystemExit(
        run_service(settings, demo=demo, load=load, show=progress.shown, file=options.file)
    )
