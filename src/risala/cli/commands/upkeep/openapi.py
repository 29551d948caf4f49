"""The reference of the API, for programs."""

from __future__ import annotations

import json
from pathlib import Path

import click

from risala.cli.reach.options import CONFIG_NAME, Options


@click.command("openapi")
@click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="RISALA_CONFIG",
    metavar="FILE",
    help=f"The settings (RISALA_CONFIG; default: ./{CONFIG_NAME} where there is one).",
)
def openapi(config: Path | None) -> None:
    """Print the OpenAPI 3.1 document of the API.

    Its numbers and amounts are those of the countries and the currency in the settings. A running
    service serves it at /openapi.json, and for people at /docs.

    \b
    Example: risala openapi
    """
    from risala.http.api.openapi.document import document

    settings = Options(None, config, json=True).settings()
    made = document(plan=settings.plan, currency=settings.service.currency)
    click.echo(json.dumps(made, ensure_ascii=False, indent=2))
