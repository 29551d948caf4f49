"""Running the service."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import progress


@click.command()
@click.option(
    "--demo", is_flag=True, help="Run with a simulated carrier and phone, an organization and keys."
)
@click.option("--host", help="The address to listen on (default: the settings', 127.0.0.1).")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="The port (default: the settings', 8080); 0 takes a free one.",
)
@common
def serve(options: Options, demo: bool, host: str | None, port: int | None) -> None:
    """Run the service until SIGINT or SIGTERM; SIGHUP reads the settings anew.

    \b
    Examples:
      risala serve --demo
      risala serve --config /etc/risala/risala.toml --port 8080
    """
    if demo and options.data is None:
        # Fresh, so that a demo never mixes with real data.
        options = replace(options, data=Path(tempfile.mkdtemp(prefix="risala-demo-")))
    # A demo's webhooks are caught by a program on this machine.
    flags = {"http__host": host, "http__port": port, "webhooks__allow_insecure": demo or None}
    settings = options.settings(**flags)
    from risala.app import run_service

    load = options.loader(**flags)
    raise SystemExit(
        run_service(settings, demo=demo, load=load, show=progress.shown, file=options.file)
    )
