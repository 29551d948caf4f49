"""The present route of a message to a number, and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from risala.cli.commands.accounts.organizations import organization_id
from risala.cli.reach.options import Options, TypedNumber, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.carriers import routes
from risala.engine.model.records.carriers.routes import (
    RouteAnswer,
    RouteCandidate,
    UnservedPrefix,
)
from risala.engine.model.records.carriers.state import CarrierCondition

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

_REASONS: Final = {
    "chosen": "it goes here",
    "shares": "takes its share by weight",
    "later": "only where those before it fail; {first} is well",
    "paused": "paused",
    "draining": "draining",
    "leaving": "ends: the settings no longer have it",
    "driver_fault": "its driver failed: {note}",
    "refused": "the bind was refused: {status}",
    "refused_for_good": "the bind was refused: {status}",
    "sim_denied": "the network denies its SIM",
    "quota_used": "the day's quota of {limit} is used up",
    "searching": "searches for a network",
    "needs_a_hand": "needs attention",
    "connects_again": "reconnects in {again_s} s",
    "link_down": "its link is down",
    "resting": "failed too often; gets no messages until {until}",
    "declined": "{note}",
    "not_running": "the service is not running",
    "other_numbers": "serves other numbers",
    "disabled": "disabled in the settings",
}
_SENDERS: Final = {
    "approved": "leaves as {name}",
    "awaits_approval": "{asked} is waiting for approval; sent as {name}",
    "not_approved": "{asked} is not approved, so the send is refused",
    "numeric": "leaves as {name}, because the country takes no names",
}


@click.command()
@click.argument("number", required=False)
@click.option("--segments", type=click.IntRange(1, 255), default=1, help="Parts of the message.")
@click.option("--org", "organization", metavar="ORG", help="Sent by ORG (id or name).")
@click.option("--from", "sender", metavar="NAME", help="Sent with this sender; needs --org.")
@common
def route(
    options: Options,
    number: str | None,
    segments: int,
    organization: str | None,
    sender: str | None,
) -> None:
    """Where a message to NUMBER would go now, and why; without NUMBER, the numbers that no carrier
    serves now.

    \b
    Examples:
      risala route
      risala route NUMBER --segments 2
    """
    if number is None:
        _unserved(options)
        return
    try:
        to = options.number(TypedNumber(number, "NUMBER"))
    except click.BadParameter as error:
        raise CommandRefused(error.message) from error

    async def work(session: GatewaySession) -> Reply[RouteAnswer]:
        chosen = None
        if organization is not None:
            chosen = await organization_id(session, organization)
        return await session.ask(
            routes.TEST, to=to, segments=segments, organization_id=chosen, sender=sender
        )

    reply = options.run(work)
    if not output.show(options.json, reply.json):
        _print_route(reply.value)


def _print_route(answer: RouteAnswer) -> None:
    network = answer.network or "no mobile network of the plan"
    output.said(f"{answer.to} ({network}): {_verdict(answer)}")
    rows: list[tuple[object, ...]] = [
        (each.carrier, each.tier, each.weight, _match(each), _reason(each.reason))
        for each in answer.candidates
    ]
    rows += [(each.carrier, None, None, None, _reason(each.reason)) for each in answer.others]
    output.table(
        ("Carrier", "Tier", "Weight", "Serves", "Why"), rows, empty="No carrier is configured."
    )
    if answer.organization is not None:
        reason = answer.organization.reason.code
        whose = output.clean(answer.organization.name, err=True)
        if reason == "country_not_open":
            output.warned(
                f"The country is not open to {whose}, so the send is refused."
                " Open it with `risala country open`."
            )
        elif reason != "sends":
            output.warned(f"{whose} is {reason}: its messages are held.")
    if (choice := answer.sender) is not None:
        values = {"name": choice.name, **choice.reason.values}
        output.said(f"Sender: {_SENDERS[choice.reason.code].format_map(values)}.")


def _verdict(answer: RouteAnswer) -> str:
    if answer.goes is not None:
        return f"goes to {answer.goes}."
    if answer.verdict.code == "waits":
        return "waits: no carrier takes it now."
    return "waits: no enabled carrier serves this number."


def _match(each: RouteCandidate) -> str:
    values = each.match.values
    return str(values.get("prefix") or values.get("network"))


def _reason(reason: CarrierCondition) -> str:
    text = _REASONS.get(reason.code) or reason.code
    return text.format_map({key: output.clean(str(one)) for key, one in reason.values.items()})


def _unserved(options: Options) -> None:
    reply = options.ask(routes.UNSERVED)
    if output.show(options.json, reply.json):
        return
    unserved = reply.value
    output.table(
        ("Numbers", "Network", "Why"),
        (
            (
                f"{each.prefix}…",
                each.network or "fixed lines, or several",
                "no enabled carrier serves them" if each.state == "unserved" else _downs(each),
            )
            for each in unserved.numbers
        ),
        empty="Every number has a carrier that is up.",
    )
    if unserved.waiting:
        if unserved.waiting_is_more:
            few = f"{unserved.waiting} or more messages wait"
        else:
            few = output.counted(unserved.waiting, "message waits", "messages wait")
        output.warned(f"{few} for a carrier.")


def _downs(each: UnservedPrefix) -> str:
    return "; ".join(f"{one.carrier}: {_reason(one.reason)}" for one in each.carriers)
