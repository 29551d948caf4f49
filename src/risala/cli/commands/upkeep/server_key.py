"""The server key: rotated without losing messages under way."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.show import output
from risala.engine.model.records.upkeep.security import ROTATE_SERVER_KEY, RotatedServerKey
from risala.engine.model.times import iso


@click.command("rotate-key")
@click.option(
    "--at-once",
    is_flag=True,
    default=None,
    help="The old key stops working at once: current codes and forms become invalid.",
)
@asks(ROTATE_SERVER_KEY)
def rotate_key(made: RotatedServerKey) -> None:
    """Take a new server key, also while the service runs.

    Codes, sign-ins and open pages from before stay valid for their life, by the old key.

    \b
    Example: risala rotate-key
    """
    output.said(f"There is a new server key, used from {iso(made.since)} on.")
    if made.old_until is None:
        output.warned("The old key is deleted. Codes that were on their way are denied.")
    else:
        until = iso(made.old_until)
        output.said(f"The old key stays valid for earlier codes and sign-ins until {until}.")
