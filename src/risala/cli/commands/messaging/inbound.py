"""Messages that come in: where they go, and who has opted out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from risala.cli.commands.accounts.organizations import org_option, organization_id
from risala.cli.reach.options import Options, common
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]


@click.group()
def inbound() -> None:
    """Messages that come in: where they go, and who has opted out."""


@inbound.command("list")
@click.option("--org", metavar="ORG", help="Only of this organization, its id or name.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@common
def inbound_list(options: Options, org: str | None, limit: int) -> None:
    """The latest messages that came in."""

    async def work(session: GatewaySession) -> Json:
        wanted = None if org is None else await organization_id(session, org)
        return await session.perform("inbound.list", organization_id=wanted, limit=limit)

    found = options.run(work)
    if output.show(options.json, found):
        return
    output.table(
        ("At", "From", "To", "Text", "Organization"),
        (
            (
                *(output.moment(each["receivedAt"]), each["from"], each["to"]),
                *(each["text"], each["organizationId"]),
            )
            for each in found["messages"]
        ),
        empty="Nothing has come in yet.",
    )


@inbound.command("routes")
@common
def inbound_routes(options: Options) -> None:
    """To whom messages go, in the order in which it is decided."""

    async def work(session: GatewaySession) -> Json:
        return await session.perform("inbound.routes")

    found = options.run(work)
    if output.show(options.json, found):
        return
    output.table(
        ("Id", "Number", "Keyword", "Organization"),
        (
            (each["id"], each["number"] or "any", each["keyword"] or "any", each["organizationId"])
            for each in found["routes"]
        ),
        empty="No route yet: what comes in is stored and goes to nobody.",
    )


@inbound.command("route")
@org_option
@click.option("--number", help="Only what is sent to this number of ours.")
@click.option("--keyword", metavar="WORD", help="Only what begins with this word.")
@common
def inbound_route(
    options: Options, org: str | None, number: str | None, keyword: str | None
) -> None:
    """Give an organization what comes in; with neither option, all that no other route takes."""

    async def work(session: GatewaySession) -> Json:
        found = await organization_id(session, org)
        return await session.perform(
            "inbound.route", organization_id=found, number=number, keyword=keyword
        )

    made = options.run(work)
    if not output.show(options.json, made):
        output.said(f"Made the route {made['id']}.")


@inbound.command("unroute")
@click.argument("route", metavar="ROUTE")
@common
def inbound_unroute(options: Options, route: str) -> None:
    """Remove a route."""

    async def work(session: GatewaySession) -> Json:
        return await session.perform("inbound.unroute", route_id=route)

    gone = options.run(work)
    if not output.show(options.json, gone):
        output.said(f"Removed the route {gone['id']}.")


@inbound.command("opt-outs")
@org_option
@click.option(
    "--heed/--ignore",
    default=None,
    help="Whether STOP, ARRET and توقف end an organization's messages.",
)
@common
def inbound_opt_outs(options: Options, org: str | None, heed: bool | None) -> None:
    """Who has opted out of an organization's messages, after changing whether that is heeded."""

    async def work(session: GatewaySession) -> Json:
        found = await organization_id(session, org)
        return await session.perform("inbound.opt_outs", organization_id=found, heeds=heed)

    found = options.run(work)
    if output.show(options.json, found):
        return
    click.echo("Opt-outs are heeded." if found["heeds"] else "Opt-outs are not heeded.")
    output.table(
        ("Number", "Since", "Through"),
        ((each["number"], output.moment(each["at"]), each["carrier"]) for each in found["numbers"]),
        empty="Nobody has opted out.",
    )


@inbound.command("opt-in")
@click.argument("number")
@org_option
@common
def inbound_opt_in(options: Options, number: str, org: str | None) -> None:
    """Take back the opt-out of NUMBER, who has asked for that by another way."""

    async def work(session: GatewaySession) -> Json:
        found = await organization_id(session, org)
        return await session.perform("inbound.opt_in", organization_id=found, number=number)

    done = options.run(work)
    if not output.show(options.json, done):
        output.said(f"{output.clean(done['number'])} may be written to again.")
