"""Customers' SMPP software, as it is bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.reach.options import Options, common
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]


@click.group()
def smpp() -> None:
    """The SMPP server that customers bind to.

    \b
    Example:
      risala smpp sessions
    """


@smpp.command("sessions")
@common
def smpp_sessions(options: Options) -> None:
    """Who is bound now, since when, and what they have sent.

    \b
    Example: risala smpp sessions
    """

    async def work(session: GatewaySession) -> Json:
        return await session.perform_exactly("smpp.sessions", {})

    found = options.run(work)
    if output.show(options.json, found):
        return
    if not found["open"]:
        output.warned("The SMPP server does not run: `smpp_server.enabled` opens it.")
    output.table(
        (
            "System id",
            "Organization",
            "Bound as",
            "SMPP",
            "From",
            "Since",
            "Accepted",
            "Refused",
            "Delivered",
        ),
        (
            (
                each["systemId"],
                each["organizationId"],
                each["kind"],
                each["version"],
                (each["address"] or "?") + (" (TLS)" if each["tls"] else ""),
                each["since"],
                each["accepted"],
                each["refused"],
                each["delivered"],
            )
            for each in found["sessions"]
        ),
        empty="Nobody is bound.",
    )
