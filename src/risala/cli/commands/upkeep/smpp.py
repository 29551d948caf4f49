"""Customers' SMPP software, as it is bound."""

from __future__ import annotations

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.show import output
from risala.engine.model.records.upkeep.service import SESSIONS, BoundEsmes
from risala.engine.model.times import iso


@click.group()
def smpp() -> None:
    """The SMPP server that customers bind to.

    \b
    Example:
      risala smpp sessions
    """


@smpp.command("sessions")
@asks(SESSIONS)
def smpp_sessions(esmes: BoundEsmes) -> None:
    """Show who is bound now, since when, and what they have sent.

    \b
    Example: risala smpp sessions
    """
    if not esmes.is_open:
        output.warned("The SMPP server does not run. Enable it with `smpp_server.enabled`.")
    output.table(
        (
            *("System id", "Organization", "Bound as", "SMPP", "From", "Since"),
            *("Accepted", "Refused", "Delivered"),
        ),
        (
            (
                *(each.system_id, each.organization_id, each.kind, each.version),
                (each.peer or "?") + (" (TLS)" if each.is_tls else ""),
                *(iso(each.since), each.accepted, each.refused, each.delivered),
            )
            for each in esmes.sessions
        ),
        empty="No client is bound.",
    )
