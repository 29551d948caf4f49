"""Senders: the names that organizations ask to send from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
REASONS: Final = ("name_in_use", "misleading", "regulations", "ownership")
"""The codes of :data:`risala.engine.accounts.senders.REASONS`, repeated here so that ``--help``
imports no engine."""


@click.group()
def sender() -> None:
    """Senders: the names that organizations ask to send from.

    \b
    Examples:
      risala sender list
      risala sender waive ACME
    """


@sender.command("request")
@click.argument("name")
@click.option("--description", required=True, help="What it is to be used for.")
@org_option
@common
def sender_request(options: Options, name: str, description: str, org: str | None) -> None:
    """Ask for NAME in an organization's place; messages leave from the default one meanwhile.

    \b
    Example: risala sender request ACME --description "Receipts of the Acme shop" --org "My shop"
    """

    async def work(session: GatewaySession) -> Json:
        return await session.perform(
            "sender.request",
            organization_id=await organization_id(session, org),
            name=name,
            description=description,
        )

    found = options.run(work)
    if not output.show(options.json, found):
        output.said(f"{output.clean(found['name'])} is {found['status']}: {found['id']}")
        _look_twice(found)


@sender.command("list")
@click.option("--org", metavar="ORG", help="Only of this organization, its id or name.")
@common
def sender_list(options: Options, org: str | None) -> None:
    """All requests and approved senders.

    \b
    Examples:
      risala sender list
      risala sender list --org "My shop"
    """

    async def work(session: GatewaySession) -> Json:
        wanted = None if org is None else await organization_id(session, org)
        return await session.perform("sender.list", organization_id=wanted)

    found = options.run(work)
    if output.show(options.json, found):
        return
    output.table(
        ("Id", "Name", "Status", "Organization", "For", "Since", "Look twice"),
        (
            (
                each["id"],
                each["name"],
                _status(each),
                each["organizationId"],
                each["description"],
                output.moment(each["updatedAt"]),
                _marks(each) if each["status"] == "pending" else "",
            )
            for each in found["senders"]
        ),
        empty="Nobody has asked for a sender yet.",
    )


def _status(each: Json) -> str:
    if each["status"] == "pending" and each["cleared"]:
        return "pending, cleared"
    return f"denied: {each['reason']}" if each["status"] == "denied" else str(each["status"])


def _marks(each: Json) -> str:
    return " ".join(mark["text"] for mark in each["marks"])


def _look_twice(found: Json) -> None:
    """Warn of objections to a name after the decision, which can still be changed."""
    if marks := _marks(found):
        output.warned(f"Look twice at {output.clean(found['name'])}. {output.clean(marks)}")


def _decide(options: Options, operation: str, given: str, **more: str) -> Json:
    async def work(session: GatewaySession) -> Json:
        return await session.perform(operation, sender_id=await _sender_id(session, given), **more)

    return options.run(work)


async def _sender_id(session: GatewaySession, given: str) -> str:
    """The id for an id, or for a name that only one organization has requested."""
    if given.startswith("snd_"):
        return given
    found = await session.perform("sender.find", name=given)
    if not found["count"]:
        raise CommandRefused(
            f"Nobody has asked for the sender {given!r}; see `risala sender list`."
        )
    if found["count"] > 1:
        several = output.counted(found["count"], "organization")
        raise CommandRefused(f"{several} have asked for {given!r}; use the id of one.")
    return str(found["senderId"])


@sender.command("clear")
@click.argument("given", metavar="SENDER")
@common
def sender_clear(options: Options, given: str) -> None:
    """Have nothing against SENDER (its id or name): approved by itself at 2,000 in seven days.

    \b
    Example: risala sender clear ACME
    """
    found = _decide(options, "sender.clear", given)
    if not output.show(options.json, found):
        name = output.clean(found["name"])
        if found["status"] == "approved":
            output.said(f"{name} is approved.")
        else:
            output.said(f"{name} is cleared; it is approved at 2,000 messages in seven days.")
        _look_twice(found)


@sender.command("waive")
@click.argument("given", metavar="SENDER")
@common
def sender_waive(options: Options, given: str) -> None:
    """Approve SENDER (its id or name) at once, whatever the volume.

    \b
    Example: risala sender waive ACME
    """
    found = _decide(options, "sender.waive", given)
    if not output.show(options.json, found):
        output.said(f"{output.clean(found['name'])} is approved.")
        _look_twice(found)


@sender.command("deny")
@click.argument("given", metavar="SENDER")
@click.option("--reason", type=click.Choice(REASONS), required=True, help="Told to the customer.")
@common
def sender_deny(options: Options, given: str, reason: str) -> None:
    """Refuse SENDER (its id or name).

    \b
    Example: risala sender deny ACME --reason misleading
    """
    found = _decide(options, "sender.deny", given, reason=reason)
    if not output.show(options.json, found):
        output.said(f"{output.clean(found['name'])} is denied: {found['reason']}")
