"""The server key: rotated without losing messages under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession


@click.command("rotate-key")
@click.option(
    "--at-once",
    is_flag=True,
    help="The old key stops working at once: current codes and forms become invalid.",
)
@common
def rotate_key(options: Options, at_once: bool) -> None:
    """Take a new server key, also while the service runs.

    Codes, sign-ins and open pages from before stay valid for their life, by the old key.

    \b
    Example: risala rotate-key
    """

    async def work(session: GatewaySession) -> dict[str, Any]:
        return await session.perform("server_key.rotate", at_once=at_once or None)

    found = options.run(work)
    if output.show(options.json, found):
        return
    output.said(f"There is a new server key, used from {found['since']} on.")
    if found["oldUntil"] is None:
        output.warned("The old key is deleted. Codes that were on their way are denied.")
    else:
        output.said(
            f"The old key stays valid for earlier codes and sign-ins until {found['oldUntil']}."
        )
