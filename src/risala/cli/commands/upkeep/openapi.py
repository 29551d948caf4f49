"""The reference of the API, for programs."""

from __future__ import annotations

import json

import click


@click.command("openapi")
def openapi() -> None:
    """Print the OpenAPI 3.1 document of the API.

    A running service serves it at /openapi.json, and for people at /docs.

    \b
    Example: risala openapi
    """
    from risala.http.api.openapi.document import document

    click.echo(json.dumps(document(), ensure_ascii=False, indent=2))
