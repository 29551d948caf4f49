"""Organizations: they send, and they pay."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.accounts.asking import asks, says
from risala.cli.commands.accounts.organizations import (
    every_organization,
    money_of,
    optional_org,
    organization_id,
)
from risala.cli.lazy import LazyCommands, LazyGroup, of_features
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.people import organizations
from risala.engine.model.records.people.organizations import (
    ListedOrganization,
    Organization,
    OrganizationStory,
)
from risala.engine.model.records.record import to_json

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession

Json = dict[str, Any]
GENERAL: Final = "general"
"""The word that removes an organization's own value, so that the general one applies again."""
_REMOVES: Final = {
    "price_per_segment": GENERAL,
    "sms_per_s": GENERAL,
    "low_balance": GENERAL,
    "key_age_days": GENERAL,
    "spend_cap": "none",
    "owner_spend_cap": "none",
}
"""The word that removes a setting."""


@click.group(cls=LazyGroup, commands=LazyCommands({}, partial(of_features, "org")))
def org() -> None:
    """Organizations: who sends, and who pays.

    \b
    Examples:
      risala org create "My shop"
      risala org list
    """


@org.command("create")
@click.argument("name")
@click.option(
    "--price",
    "price_per_segment",
    metavar="AMOUNT",
    help="Its own price per segment, for example 0.45.",
)
@asks(organizations.CREATE, creates=True)
def org_create(new: Organization) -> None:
    """Create an organization.

    \b
    Examples:
      risala org create "My shop"
      risala org create "My shop" --price 0.45
    """
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
    listed = options.run(lambda session: every_organization(session, search=search, status=status))
    if output.show(options.json, {"organizations": [to_json(each) for each in listed]}):
        return
    is_self = any(each.parts_per_day is not None for each in listed)
    output.table(
        ("Id", "Name", "Status", "Parts today" if is_self else "Balance", "Owner"),
        (
            (
                each.id,
                each.name,
                each.status,
                _parts_today(each) or money_of(each.balance, each.currency),
                ", ".join(each.owners) or None,
            )
            for each in listed
        ),
        empty=(
            "There are no organizations yet. Create one with `risala org create NAME`."
            if search is None and status is None
            else "No organization matches."
        ),
    )


@org.command("show")
@optional_org
@asks(organizations.SHOW_ALL)
def org_show(story: OrganizationStory) -> None:
    """Show one organization.

    \b
    Examples:
      risala org show
      risala org show "My shop" --json
    """
    pairs = _fields(story)
    if (parts := _parts_today(story)) is not None:  # nobody pays: no sum says anything
        pairs = {name: each for name, each in pairs.items() if name not in _OF_MONEY}
        pairs["parts today"] = parts
    output.fields(pairs)


_OF_MONEY: Final = ("balance", "price per segment", "low balance", "spend cap a day", "spent today")


def _parts_today(organization: ListedOrganization) -> str | None:
    """The parts sent today, of those allowed, where nobody pays; None: there is a balance."""
    if organization.parts_per_day is None:
        return None
    return f"{organization.parts_today:,} of {organization.parts_per_day:,}"


def _fields(organization: Organization) -> dict[str, object]:
    rate, currency = organization.sms_per_s, organization.currency
    return {
        "id": organization.id,
        "name": organization.name,
        "status": organization.status,
        "balance": money_of(organization.balance, currency),
        "price per segment": money_of(organization.price_per_segment, currency)
        or "as for everybody",
        "messages a second": "as for everybody" if rate is None else f"at most {rate:g}",
        "smart encoding": organization.smart_encoding,
        "lean answers": organization.lean_answers,
        "second factor": "required" if organization.factor_required else "optional",
        "key age": _key_age(organization),
        "low balance": money_of(organization.low_balance, currency) or "as for everybody",
        "spend cap a day": _cap(organization),
        "spent today": money_of(organization.spent_today, currency),
        "time zone": organization.time_zone,
        "created": output.at(organization.created_at),
    }


def _key_age(organization: Organization) -> str:
    days = organization.key_age_days
    return "as for everybody" if days is None else f"at most {output.counted(days, 'day')}"


def _cap(organization: Organization) -> str:
    """The effective cap; if operator and owner have each set one, both of them."""
    holds, owner, operator = (
        money_of(cap, organization.currency)
        for cap in (
            organization.spend_cap,
            organization.owner_spend_cap,
            organization.operator_spend_cap,
        )
    )
    if holds is None:
        return "none"
    if owner is None or operator is None:
        return f"{holds} ({'the operator' if owner is None else 'the owner'}'s)"
    return f"{holds} (the operator's: {operator}, the owner's: {owner})"


@org.command("set")
@optional_org
@click.option("--name", help="Another name.")
@click.option(
    "--price",
    "price_per_segment",
    metavar="AMOUNT",
    help="Its own price per segment, or `general`.",
)
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
@click.option(
    "--factor-required/--no-factor-required",
    default=None,
    help="Members need a second factor: a passkey or an authenticator app.",
)
@click.option(
    "--key-age",
    "key_age_days",
    metavar="DAYS",
    help="The most days that a value of its API keys works, or `general`. Older ones get a date.",
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
    /,
    org: str | None,
    **arguments: Any,  # noqa: ANN401 -- by the options above
) -> None:
    """Change the given settings; the others stay.

    \b
    Examples:
      risala org set "My shop" --price 0.45 --low-balance 100
      risala org set "My shop" --spend-cap none
    """
    changes = {
        name: None if value == _REMOVES.get(name) else value
        for name, value in arguments.items()
        if value is not None
    }
    if (rate := changes.get("sms_per_s")) is not None:
        changes["sms_per_s"] = _rate(rate)
    if (days := changes.get("key_age_days")) is not None:
        changes["key_age_days"] = _days(days)
    if not changes:
        raise click.UsageError("Say what to change. `risala org set --help` lists the options.")
    reply = change_organization(options, org, changes)
    if not output.show(options.json, reply.json):
        output.fields(_fields(reply.value))


def change_organization(options: Options, org: str | None, changes: Json) -> Reply[Organization]:
    """Have an organization's settings changed; the organization as it is afterwards."""

    async def work(session: GatewaySession) -> Reply[Organization]:
        organization = await organization_id(session, org)
        arguments = {"organization_id": organization, **changes}
        return await session.ask_exactly(organizations.SET, arguments)

    return options.run(work)


def _days(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise click.BadParameter("must be a whole number, or `general`.", param_hint="--key-age")
    return int(text)


def _rate(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter("must be a number, or `general`.", param_hint="--sms-per-s") from (
            None
        )


says(
    org,
    "suspend",
    optional_org,
    organizations.SUSPEND,
    lambda changed: f"{output.clean(changed.name)} is suspended.",
    does="Refuse its requests and hold its queue; messages can still expire.",
    example='"My shop"',
)
says(
    org,
    "resume",
    optional_org,
    organizations.RESUME,
    lambda changed: f"{output.clean(changed.name)} is active.",
    does="Undo a suspension.",
    example='"My shop"',
)
