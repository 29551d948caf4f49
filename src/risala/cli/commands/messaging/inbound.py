"""Inbound messages: their destination, and opt-outs."""

from __future__ import annotations

from functools import partial

import click

from risala.cli.commands.accounts.asking import asks, says
from risala.cli.commands.accounts.organizations import only_org_option, org_option
from risala.cli.lazy import LazyCommands, LazyGroup, of_features
from risala.cli.reach.options import number_option
from risala.cli.show import output
from risala.engine.model.records import inbound as records
from risala.engine.model.records.inbound import InboundRoute, Recipient


@click.group(cls=LazyGroup, commands=LazyCommands({}, partial(of_features, "inbound")))
def inbound() -> None:
    """Received messages: where they go, and who has opted out.

    \b
    Examples:
      risala inbound list
      risala inbound route --keyword shop
    """


@inbound.command("list")
@only_org_option
@click.option("--from", "from", metavar="NUMBER", help="Only from this number.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", metavar="CURSOR", help="The next page, as named by the previous one.")
@asks(records.LIST)
def inbound_list(page: records.ReceivedMessages, before: str | None) -> None:
    """List the received messages, newest first.

    \b
    Examples:
      risala inbound list
      risala inbound list --from NUMBER
    """
    output.table(
        ("At", "Sent", "From", "To", "Text", "Organization"),
        (
            (
                *(output.at(each.received_at), output.at(each.sent_at)),
                *(each.sender, each.recipient, each.body, each.organization_id),
            )
            for each in page.messages
        ),
        empty="No messages have been received yet."
        if before is None
        else "There are no older ones.",
    )
    output.tell_older(page.older)


@inbound.command("routes")
@asks(records.ROUTES)
def inbound_routes(answer: records.Routes) -> None:
    """List the routes of received messages, in the order in which they are tried.

    \b
    Example: risala inbound routes
    """
    output.table(
        ("Id", "Number", "Keyword", "Organization"),
        (
            (each.id, each.number or "any", each.keyword or "any", each.organization_id)
            for each in answer.routes
        ),
        empty="There are no routes yet: received messages are stored but go to no organization.",
    )


@inbound.command("route")
@org_option
@click.option("--number", help="Only messages to this number of ours.")
@click.option("--keyword", metavar="WORD", help="Only messages that begin with this word.")
@asks(records.ROUTE)
def inbound_route(made: InboundRoute) -> None:
    """Give received messages to an organization; without options, all that no other route takes.

    \b
    Examples:
      risala inbound route --org "My shop" --keyword shop
      risala inbound route --number 1234
    """
    output.said(f"Created the route {made.id}.")


says(
    inbound,
    "unroute",
    click.argument("route_id", metavar="ROUTE"),
    records.UNROUTE,
    lambda gone: f"Removed the route {gone.id}.",
    does="Remove a route.",
    example="3",
)


@inbound.command("opt-outs")
@org_option
@click.option(
    "--heed/--ignore",
    "heeds",
    default=None,
    help="Whether STOP, ARRET and توقف end an organization's messages.",
)
@click.option("--number", help="Check only this number.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@click.option("--before", metavar="CURSOR", help="The next page, as named by the previous one.")
@asks(records.OPT_OUTS)
def inbound_opt_outs(page: records.OptOutList, before: str | None) -> None:
    """List who has opted out of an organization's messages; --heed and --ignore change that rule.

    \b
    Examples:
      risala inbound opt-outs
      risala inbound opt-outs --number NUMBER
      risala inbound opt-outs --heed
    """
    click.echo("Opt-outs apply." if page.heeds else "Opt-outs do not apply.")
    output.table(
        ("Number", "Since", "By", "Through"),
        (
            (each.number, output.at(each.at), each.who or each.keyword, each.carrier)
            for each in page.numbers
        ),
        empty="Nobody has opted out." if before is None else "There are no older ones.",
    )
    output.tell_older(page.older)


@inbound.command("opt-out")
@click.argument("number", callback=number_option)
@org_option
@asks(records.OPT_OUT)
def inbound_opt_out(done: Recipient) -> None:
    """Opt NUMBER out, because its owner asked for it in another way.

    \b
    Example: risala inbound opt-out NUMBER
    """
    output.said(f"{done.number} gets no more messages while opt-outs apply.")


@inbound.command("opt-in")
@click.argument("number", callback=number_option)
@org_option
@click.option("--note", help="How they asked for it; the audit trail keeps it.")
@asks(records.OPT_IN)
def inbound_opt_in(done: Recipient) -> None:
    """Undo the opt-out of NUMBER, because its owner asked for it in another way.

    \b
    Example: risala inbound opt-in NUMBER
    """
    output.said(f"{output.clean(done.number)} can get messages again.")
