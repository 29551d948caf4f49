"""Deleting an organization, and what is told of an erasure that was begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from risala.cli.commands.accounts.organizations import (
    ask_organization,
    money_of,
    organization_id,
    required_org,
)
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.features.own_data import records
from risala.engine.features.own_data.records import (
    DELETE_ORGANIZATION,
    ErasureProgress,
    ErasureState,
)
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.people import organizations

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession


@click.command("delete")
@required_org
@click.option("--name", help="Its full name, to confirm that it is the right one.")
@common
def org_delete(options: Options, org: str, name: str | None) -> None:
    """Delete an organization: keys, members and endpoints at once, then all its data.

    Without --name, only what would go is shown. The ledger and the audit trail stay.

    \b
    Examples:
      risala org delete "My shop"
      risala org delete org_… --name "My shop"
    """

    async def work(session: GatewaySession) -> Reply[ErasureProgress]:
        reply = await organization_id(session, org)
        erasure = await session.ask(DELETE_ORGANIZATION, organization_id=reply, name=name)
        return await erase_units(session, erasure.value.id)

    if name is not None:
        erased = options.run(work)
        if not output.show(options.json, erased.json):
            report_erased(erased.value)
        return
    reply = ask_organization(organizations.DELETION, options, org)
    if output.show(options.json, reply.json):
        return
    ends = reply.value
    output.fields(
        {
            "name": ends.name,
            "balance": money_of(ends.balance, ends.currency),
            "keys": ends.keys,
            "members": ends.members,
            "webhook endpoints": ends.endpoints,
            "senders": ends.senders,
            "messages not sent yet": ends.pending,
            "messages sent": ends.messages,
        }
    )
    output.said("Add --name and its name to delete it. This cannot be undone.")


async def erase_units(session: GatewaySession, erasure_id: str) -> Reply[ErasureProgress]:
    """Do one unit after the other. A running service does so too, and continues if something has to
    be waited for."""
    while True:
        done = await session.ask(records.ERASURE_RUN, erasure_id=erasure_id)
        erasure = done.value.erasure
        if done.value.waits or erasure.state is ErasureState.DONE:
            return Reply(erasure, done.json["erasure"])


def report_erased(erasure: ErasureProgress) -> None:
    for what, count in erasure.gone.items():
        output.said(f"{what}: {count}")
    if erasure.state is ErasureState.DONE:
        output.said("Done.")
    else:
        output.said(
            "The rest is with a carrier. A running service continues when the carrier has finished."
        )
