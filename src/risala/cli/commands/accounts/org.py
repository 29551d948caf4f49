"""Organizations: they send, and they pay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.organizations import (
    ask_organization,
    every_organization,
    money_of,
    optional_org,
    organization_id,
)
from risala.cli.reach.erasing import erase_units, report_erased
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.people import organizations
from risala.engine.model.records.people.organizations import ListedOrganization, Organization
from risala.engine.model.records.record import to_json
from risala.engine.model.records.upkeep.erasure_progress import DELETE_ORGANIZATION, ErasureProgress

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
NO_CAP: Final = "none"
GENERAL: Final = "general"
"""The word that removes an organization's own value, so that the general one applies again."""


@click.group()
def org() -> None:
    """Organizations: who sends, and who pays.

    \b
    Examples:
      risala org create "My shop"
      risala org list
    """


@org.command("create")
@click.argument("name")
@click.option("--price", metavar="AMOUNT", help="Its own price per segment, for example 0.45.")
@common
def org_create(options: Options, name: str, price: str | None) -> None:
    """Create an organization.

    \b
    Examples:
      risala org create "My shop"
      risala org create "My shop" --price 0.45
    """

    async def work(session: GatewaySession) -> Reply[Organization]:
        return await session.ask(organizations.CREATE, name=name, price_per_segment=price)

    made = options.run(work, creates=True)
    if not output.show(options.json, made.json):
        new = made.value
        output.said(f"Created the organization {output.clean(new.name)}: {new.id}")


@org.command("list")
@click.option("--search", metavar="TEXT", help="Only those with TEXT in their name or id.")
@click.option(
    "--status",
    type=click.Choice(("active", "suspended", "deleted")),
    help="Only those in this state.",
)
@common
def org_list(options: Options, search: str | None, status: str | None) -> None:
    """List all organizations.

    \b
    Examples:
      risala org list
      risala org list --search shop --status suspended
    """

    async def work(session: GatewaySession) -> list[ListedOrganization]:
        return await every_organization(session, search=search, status=status)

    found = options.run(work)
    if output.show(options.json, {"organizations": [to_json(each) for each in found]}):
        return
    output.table(
        ("Id", "Name", "Status", "Balance", "Owner"),
        (
            (
                each.id,
                each.name,
                each.status,
                money_of(each.balance, each.currency),
                ", ".join(each.owners) or None,
            )
            for each in found
        ),
        empty=(
            "There are no organizations yet. Create one with `risala org create NAME`."
            if search is None and status is None
            else "No organization matches."
        ),
    )


@org.command("show")
@optional_org
@common
def org_show(options: Options, organization: str | None) -> None:
    """Show one organization.

    \b
    Examples:
      risala org show
      risala org show "My shop" --json
    """
    found = ask_organization(organizations.SHOW, options, organization)
    if not output.show(options.json, found.json):
        output.fields(_fields(found.value))


def _fields(found: Organization) -> dict[str, object]:
    rate, currency = found.sms_per_s, found.currency
    return {
        "id": found.id,
        "name": found.name,
        "status": found.status,
        "balance": money_of(found.balance, currency),
        "price per segment": money_of(found.price_per_segment, currency) or "as for everybody",
        "messages a second": "as for everybody" if rate is None else f"at most {rate:g}",
        "smart encoding": found.smart_encoding,
        "lean answers": found.lean_answers,
        "low balance": money_of(found.low_balance, currency) or "as for everybody",
        "spend cap a day": _cap(found),
        "spent today": money_of(found.spent_today, currency),
        "time zone": found.time_zone,
        "created": output.at(found.created_at),
    }


def _cap(found: Organization) -> str:
    """The effective cap; if operator and owner have each set one, both of them."""
    holds, owner, operator = (
        money_of(cap, found.currency)
        for cap in (found.spend_cap, found.owner_spend_cap, found.operator_spend_cap)
    )
    if holds is None:
        return "none"
    if owner is None or operator is None:
        return f"{holds} ({'the operator' if owner is None else 'the owner'}'s)"
    return f"{holds} (the operator's: {operator}, the owner's: {owner})"


@org.command("set")
@optional_org
@click.option("--name", help="Another name.")
@click.option("--price", metavar="AMOUNT", help="Its own price per segment, or `general`.")
@click.option(
    "--smart-encoding/--no-smart-encoding",
    default=None,
    help="Replace curly quotes, dashes and similar with GSM characters, which take less space.",
)
@click.option(
    "--lean-answers/--no-lean-answers",
    default=None,
    help="Answer programs with seven fields and four states for a message, as hosted services do.",
)
@click.option("--sms-per-s", metavar="RATE", help="The most messages per second, or `general`.")
@click.option(
    "--low-balance",
    metavar="AMOUNT",
    help="A balance below this causes the event `balance.low`; or `general`. 0: never.",
)
@click.option(
    "--spend-cap",
    metavar="AMOUNT",
    help="The operator's daily spend cap, or `none`. The lower of the two caps applies.",
)
@click.option("--owner-spend-cap", metavar="AMOUNT", help="The owner's own cap, or `none`.")
@click.option("--time-zone", metavar="NAME", help="The time zone in which its days end.")
@common
def org_set(
    options: Options,
    organization: str | None,
    name: str | None,
    price: str | None,
    smart_encoding: bool | None,
    lean_answers: bool | None,
    sms_per_s: str | None,
    low_balance: str | None,
    spend_cap: str | None,
    owner_spend_cap: str | None,
    time_zone: str | None,
) -> None:
    """Change the given settings; the others stay.

    \b
    Examples:
      risala org set "My shop" --price 0.45 --low-balance 100
      risala org set "My shop" --spend-cap none
    """
    changes: Json = {}
    if name is not None:
        changes["name"] = name
    if smart_encoding is not None:
        changes["smart_encoding"] = smart_encoding
    if lean_answers is not None:
        changes["lean_answers"] = lean_answers
    if price is not None:
        changes["price_per_segment"] = None if price == GENERAL else price
    if sms_per_s is not None:
        changes["sms_per_s"] = None if sms_per_s == GENERAL else _rate(sms_per_s)
    if low_balance is not None:
        changes["low_balance"] = None if low_balance == GENERAL else low_balance
    if spend_cap is not None:
        changes["spend_cap"] = None if spend_cap == NO_CAP else spend_cap
    if owner_spend_cap is not None:
        changes["owner_spend_cap"] = None if owner_spend_cap == NO_CAP else owner_spend_cap
    if time_zone is not None:
        changes["time_zone"] = time_zone
    if not changes:
        raise click.UsageError("Say what to change. `risala org set --help` lists the options.")
    found = change_organization(options, organization, changes)
    if not output.show(options.json, found.json):
        output.fields(_fields(found.value))


def change_organization(options: Options, given: str | None, changes: Json) -> Reply[Organization]:
    """Have an organization's settings changed; the organization as it is afterwards."""

    async def work(session: GatewaySession) -> Reply[Organization]:
        found = await organization_id(session, given)
        asked = {"organization_id": found, **changes}
        return await session.ask_exactly(organizations.SET, asked)

    return options.run(work)


def _rate(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter("must be a number, or `general`.", param_hint="--sms-per-s") from (
            None
        )


@org.command("suspend")
@optional_org
@common
def org_suspend(options: Options, organization: str | None) -> None:
    """Refuse its requests and hold its queue; messages can still expire.

    \b
    Example: risala org suspend "My shop"
    """
    found = ask_organization(organizations.SUSPEND, options, organization)
    if not output.show(options.json, found.json):
        output.said(f"{output.clean(found.value.name)} is suspended.")


@org.command("resume")
@optional_org
@common
def org_resume(options: Options, organization: str | None) -> None:
    """Undo a suspension.

    \b
    Example: risala org resume "My shop"
    """
    found = ask_organization(organizations.RESUME, options, organization)
    if not output.show(options.json, found.json):
        output.said(f"{output.clean(found.value.name)} is active.")


@org.command("delete")
@click.argument("organization", metavar="ORG")
@click.option("--name", help="Its full name, to confirm that it is the right one.")
@common
def org_delete(options: Options, organization: str, name: str | None) -> None:
    """Delete an organization: keys, members and endpoints at once, then all its data.

    Without --name, only what would go is shown. The ledger and the audit trail stay.

    \b
    Examples:
      risala org delete "My shop"
      risala org delete org_… --name "My shop"
    """

    async def work(session: GatewaySession) -> Reply[ErasureProgress]:
        found = await organization_id(session, organization)
        asked = await session.ask(DELETE_ORGANIZATION, organization_id=found, name=name)
        return await erase_units(session, asked.value.id)

    if name is not None:
        erased = options.run(work)
        if not output.show(options.json, erased.json):
            report_erased(erased.value)
        return
    found = ask_organization(organizations.DELETION, options, organization)
    if output.show(options.json, found.json):
        return
    ends = found.value
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
