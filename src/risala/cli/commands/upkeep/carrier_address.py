"""The secret address at which a carrier calls."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.show import output
from risala.engine.features.answering.feature import ROTATE, CarrierAddress


@click.command("rotate")
@click.argument("carrier", metavar="NAME")
@asks(ROTATE)
def rotate(address: CarrierAddress) -> None:
    """Make the secret address at which a carrier calls, or another one; it is shown only now.

    The address before works 24 hours more.

    \b
    Example: risala carriers rotate aggregator
    """
    click.echo(address.url)
    if address.former_until is not None:
        output.said(f"The former address works until {output.at(address.former_until)}.")
