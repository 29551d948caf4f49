"""Inbound messages: their destination, and opt-outs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.organizations import ask_organization, org_option, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.model.records import inbound as records
from risala.engine.model.records.asks import Ask, Reply
from risala.engine.model.records.inbound import Recipient
from risala.sms.address import normalise_number

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession


@click.group()
def inbound() -> None:
    """Received messages: where they go, and who has opted out.

    \b
    Examples:
      risala inbound list
      risala inbound route --keyword shop
    """


@inbound.command("list")
@click.option("--org", metavar="ORG", help="Only of this organization, its id or name.")
@click.option("--from", "sender", metavar="NUMBER", help="Only from this number.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", metavar="CURSOR", help="The next page, as named by the previous one.")
@common
def inbound_list(
    options: Options, org: str | None, sender: str | None, limit: int, before: str | None
) -> None:
    """List the received messages, newest first.

    \b
    Examples:
      risala inbound list
      risala inbound list --from 36123456
    """
    given = {"from": sender, "limit": limit, "before": before}

    async def work(session: GatewaySession) -> Reply[records.ReceivedMessages]:
        wanted = None if org is None else await organization_id(session, org)
        return await session.ask(records.LIST, organization_id=wanted, **given)

    found = options.run(work)
    if output.show(options.json, found.json):
        return
    output.table(
        ("At", "From", "To", "Text", "Organization"),
        (
            (
                *(output.at(each.received_at), each.sender, each.recipient),
                *(each.body, each.organization_id),
            )
            for each in found.value.messages
        ),
        empty="No messages have been received yet."
        if before is None
        else "There are no older ones.",
    )
    _tell_older(found.value.older)


def _tell_older(older: str | None) -> None:
    if older is not None:
        output.warned(f"There are older ones: --before {older}.")


@inbound.command("routes")
@common
def inbound_routes(options: Options) -> None:
    """List the routes of received messages, in the order in which they are tried.

    \b
    Example: risala inbound routes
    """
    found = options.ask(records.ROUTES)
    if output.show(options.json, found.json):
        return
    output.table(
        ("Id", "Number", "Keyword", "Organization"),
        (
            (each.id, each.number or "any", each.keyword or "any", each.organization_id)
            for each in found.value.routes
        ),
        empty="There are no routes yet: received messages are stored but go to no organization.",
    )


@inbound.command("route")
@org_option
@click.option("--number", help="Only messages to this number of ours.")
@click.option("--keyword", metavar="WORD", help="Only messages that begin with this word.")
@common
def inbound_route(
    options: Options, org: str | None, number: str | None, keyword: str | None
) -> None:
    """Give received messages to an organization; without options, all that no other route takes.

    \b
    Examples:
      risala inbound route --org "My shop" --keyword shop
      risala inbound route --number 1234
    """
    made = ask_organization(records.ROUTE, options, org, number=number, keyword=keyword)
    if not output.show(options.json, made.json):
        output.said(f"Created the route {made.value.id}.")


@inbound.command("unroute")
@click.argument("route", metavar="ROUTE")
@common
def inbound_unroute(options: Options, route: str) -> None:
    """Remove a route.

    \b
    Example: risala inbound unroute 3
    """
    gone = options.ask(records.UNROUTE, route_id=route)
    if not output.show(options.json, gone.json):
        output.said(f"Removed the route {gone.value.id}.")


@inbound.command("opt-outs")
@org_option
@click.option(
    "--heed/--ignore",
    default=None,
    help="Whether STOP, ARRET and توقف end an organization's messages.",
)
@click.option("--number", help="Check only this number.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", metavar="CURSOR", help="The next page, as named by the previous one.")
@common
def inbound_opt_outs(
    options: Options,
    /,
    org: str | None,
    heed: bool | None,
    before: str | None,
    **given: Any,  # noqa: ANN401 -- by the options above
) -> None:
    """List who has opted out of an organization's messages; --heed and --ignore change that rule.

    \b
    Examples:
      risala inbound opt-outs
      risala inbound opt-outs --number 36123456
      risala inbound opt-outs --heed
    """
    reply = ask_organization(records.OPT_OUTS, options, org, heeds=heed, before=before, **given)
    if output.show(options.json, reply.json):
        return
    found = reply.value
    click.echo("Opt-outs apply." if found.heeds else "Opt-outs do not apply.")
    output.table(
        ("Number", "Since", "By", "Through"),
        (
            (each.number, output.at(each.at), each.who or each.keyword, each.carrier)
            for each in found.numbers
        ),
        empty="Nobody has opted out." if before is None else "There are no older ones.",
    )
    _tell_older(found.older)


@inbound.command("opt-out")
@click.argument("number")
@org_option
@common
def inbound_opt_out(options: Options, number: str, org: str | None) -> None:
    """Opt NUMBER out, because its owner asked for it in another way.

    \b
    Example: risala inbound opt-out 36123456
    """
    try:
        wanted = normalise_number(number)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="NUMBER") from error

    done = _change(options, records.OPT_OUT, org, wanted)
    if done is not None:
        output.said(f"{done.number} gets no more messages while opt-outs apply.")


def _change(
    options: Options, ask: Ask[Recipient], org: str | None, number: str
) -> Recipient | None:
    """The number whose opt-out was changed; None: it was shown as JSON."""
    done = ask_organization(ask, options, org, number=number)
    return None if output.show(options.json, done.json) else done.value


@inbound.command("opt-in")
@click.argument("number")
@org_option
@common
def inbound_opt_in(options: Options, number: str, org: str | None) -> None:
    """Undo the opt-out of NUMBER, because its owner asked for it in another way.

    \b
    Example: risala inbound opt-in 36123456
    """

    done = _change(options, records.OPT_IN, org, number)
    if done is not None:
        output.said(f"{output.clean(done.number)} can get messages again.")
