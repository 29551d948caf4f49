"""Senders: the names that organizations request to send from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import only_org_option, org_option
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records import senders
from risala.engine.model.records.accounts import WEEKLY_MESSAGES
from risala.engine.model.records.senders import MarkedSender, MarkedSenders

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

sender_id = click.argument("sender_id", metavar="SENDER")


@click.group()
def sender() -> None:
    """Senders: the names that organizations request to send from.

    \b
    Examples:
      risala sender list
      risala sender waive ACME
    """


@sender.command("request")
@click.argument("name")
@click.option("--description", required=True, help="What the sender is used for.")
@org_option
@asks(senders.REQUEST)
def sender_request(sender: MarkedSender) -> None:
    """Request NAME for an organization; until approval, messages use the default sender.

    \b
    Example: risala sender request ACME --description "Receipts of the Acme shop" --org "My shop"
    """
    output.said(f"{output.clean(sender.name)} is {sender.status}: {sender.id}")
    _look_twice(sender)


@sender.command("list")
@only_org_option
@asks(senders.LIST)
def sender_list(listed: MarkedSenders) -> None:
    """List all requests and approved senders.

    \b
    Examples:
      risala sender list
      risala sender list --org "My shop"
    """
    output.table(
        ("Id", "Name", "Status", "Organization", "For", "Since", "Look twice"),
        (
            (
                each.id,
                each.name,
                _status(each),
                each.organization_id,
                each.description,
                output.at(each.updated_at),
                _marks(each) if each.status == "pending" else "",
            )
            for each in listed.senders
        ),
        empty="No sender has been requested yet.",
    )


def _status(each: MarkedSender) -> str:
    if each.status == "pending" and each.cleared:
        return "pending, cleared"
    return f"denied: {each.reason}" if each.status == "denied" else each.status


def _marks(each: MarkedSender) -> str:
    return " ".join(mark.text for mark in each.marks)


def _look_twice(sender: MarkedSender) -> None:
    """Warn of objections to a name after the decision, which can still be changed."""
    if marks := _marks(sender):
        output.warned(
            f"Check {output.clean(sender.name, err=True)} carefully. "
            f"{output.clean(marks, err=True)}"
        )


async def _sender(session: GatewaySession, arguments: dict[str, Any]) -> dict[str, Any]:
    return {**arguments, "sender_id": await _sender_id(session, arguments["sender_id"])}


async def _sender_id(session: GatewaySession, sender: str) -> str:
    """The id for an id, or for a name that only one organization has requested."""
    if sender.startswith("snd_"):
        return sender
    answer = (await session.ask(senders.FIND, name=sender)).value
    if answer.sender_id is not None:
        return answer.sender_id
    if not answer.count:
        raise CommandRefused(
            f"The sender {sender!r} has not been requested. See `risala sender list`."
        )
    several = output.counted(answer.count, "organization")
    raise CommandRefused(f"{several} have requested {sender!r}. Use the id of one.")


@sender.command("clear")
@sender_id
@asks(senders.CLEAR, arguments=_sender)
def sender_clear(sender: MarkedSender) -> None:
    """Clear SENDER (its id or name): it is approved by itself once enough is sent in seven days.

    \b
    Example: risala sender clear ACME
    """
    name = output.clean(sender.name)
    if sender.status == "approved":
        output.said(f"{name} is approved.")
    else:
        at = f"{WEEKLY_MESSAGES:,} messages in seven days"
        output.said(f"{name} is cleared. It is approved at {at}.")
    _look_twice(sender)


@sender.command("waive")
@sender_id
@asks(senders.WAIVE, arguments=_sender)
def sender_waive(sender: MarkedSender) -> None:
    """Approve SENDER (its id or name) at once, whatever the volume.

    \b
    Example: risala sender waive ACME
    """
    output.said(f"{output.clean(sender.name)} is approved.")
    _look_twice(sender)


@sender.command("deny")
@sender_id
@click.option(
    "--reason",
    type=click.Choice(tuple(senders.REASONS)),
    required=True,
    help="The reason that the customer sees.",
)
@asks(senders.DENY, arguments=_sender)
def sender_deny(sender: MarkedSender) -> None:
    """Refuse SENDER (its id or name).

    \b
    Example: risala sender deny ACME --reason misleading
    """
    output.said(f"{output.clean(sender.name)} is denied: {output.clean(sender.reason)}")
