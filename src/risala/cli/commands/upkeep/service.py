"""Running the service, and its first file."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import click

from risala.cli.reach.options import CONFIG_NAME, Options, common
from risala.cli.reach.refused import CommandRefused, refusals
from risala.cli.show import output, progress


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


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=CONFIG_NAME)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def init(path: Path, force: bool, as_json: bool) -> None:
    """Write a commented settings file, PATH (default: ./risala.toml).

    \b
    Examples:
      risala init
      risala init /etc/risala/risala.toml
    """
    with refusals(as_json):
        _write_template(path, force=force)
    if not output.show(as_json, {"path": str(path)}):
        output.said(f"Wrote {path}. It explains every setting and its default.")


def _write_template(path: Path, *, force: bool) -> None:
    from risala.config.template import render_template

    try:
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
        with open(os.open(path, flags, 0o644), "w", encoding="utf-8") as file:
            file.write(render_template())
    except FileExistsError:
        raise CommandRefused(f"{path} already exists. Use --force to overwrite it.") from None
    except OSError as error:
        raise CommandRefused(f"{path} cannot be written: {error.strerror}.") from error
