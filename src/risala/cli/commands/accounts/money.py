"""The price of messages, who pays it, and payments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from risala.cli.commands.accounts.org import GENERAL, change_organization
from risala.cli.commands.accounts.organizations import (
    every_organization,
    money_of,
    optional_org,
    organization_and_amount,
    organization_id,
)
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.ledger import (
    CUSTOMERS,
    PAYERS,
    PRICE,
    SET_PAYER,
    SHOW_PAYER,
    TOP_UP,
    LedgerEntry,
    Payer,
    PriceList,
)
from risala.engine.model.records.people.organizations import SHOW, Organization
from risala.engine.model.records.record import to_json

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession


@click.command()
@organization_and_amount
@click.option(
    "--reference",
    metavar="TEXT",
    help="The reference on the payment's receipt. Each reference is credited only once.",
)
@click.option("--note", help="Any other note.")
@common
def topup(
    options: Options,
    org: str | None,
    amount: str,
    reference: str | None,
    note: str | None,
) -> None:
    """Add AMOUNT (100 or 99.50) to the balance of ORG (its id or name).

    \b
    Examples:
      risala topup 100
      risala topup "My shop" 99.50 --reference BK-4711
    """

    async def work(session: GatewaySession) -> tuple[Reply[LedgerEntry], Organization]:
        organization = await organization_id(session, org)
        entry = await session.ask(
            TOP_UP, organization_id=organization, amount=amount, reference=reference, note=note
        )
        return entry, (await session.ask(SHOW, organization_id=organization)).value

    entry, after = options.run(work)
    if not output.show(options.json, {**entry.json, "currency": after.currency}):
        added = output.money(entry.value.amount, after.currency)
        balance = output.money(entry.value.balance_after, after.currency)
        output.said(f"Added {added} to {output.clean(after.name)}: the balance is {balance}.")


@click.group(invoke_without_command=True)
@click.pass_context
@common
def price(options: Options, context: click.Context) -> None:
    """The price of a segment: the general one, and organizations' own.

    \b
    Examples:
      risala price
      risala price set "My shop" 0.45
    """
    if context.invoked_subcommand is None:
        _show(options, None)


@price.command("show")
@optional_org
@common
def price_show(options: Options, org: str | None) -> None:
    """The general price, and each organization's own (or only ORG's).

    \b
    Examples:
      risala price show
      risala price show "My shop"
    """
    _show(options, org)


def _show(options: Options, organization: str | None) -> None:
    async def work(session: GatewaySession) -> tuple[Reply[PriceList], Sequence[Organization]]:
        general = await session.ask(PRICE)
        if organization is None:
            return general, await every_organization(session)
        chosen = await organization_id(session, organization)
        return general, [(await session.ask(SHOW, organization_id=chosen)).value]

    general, organizations = options.run(work)
    listed = [
        {key: to_json(each)[key] for key in ("id", "name", "pricePerSegment", "currency")}
        for each in organizations
    ]
    if output.show(options.json, {**general.json, "organizations": listed}):
        return
    cost = output.money(general.value.per_segment, general.value.currency)
    click.echo(f"A segment costs {cost} (pricing.per_segment in the settings).")
    shown = [each for each in organizations if organization or each.price_per_segment is not None]
    if shown:
        click.echo()
        output.table(
            ("Organization", "Name", "Its price"),
            (
                (
                    each.id,
                    each.name,
                    money_of(each.price_per_segment, each.currency) or "the general one",
                )
                for each in shown
            ),
            empty="",
        )


@price.command("set")
@organization_and_amount
@common
def price_set(options: Options, org: str | None, amount: str) -> None:
    """Give ORG its own price of a segment: AMOUNT, or `general` for everybody's again.

    \b
    Examples:
      risala price set "My shop" 0.45
      risala price set "My shop" general
    """
    change = {"price_per_segment": None if amount == GENERAL else amount}
    changed = change_organization(options, org, change)
    if output.show(options.json, changed.json):
        return
    organization = changed.value
    now = money_of(organization.price_per_segment, organization.currency) or "the general price"
    output.said(f"A segment of {output.clean(organization.name)} costs {now}.")


@click.group(invoke_without_command=True)
@click.pass_context
@common
def payer(options: Options, context: click.Context) -> None:
    """Say who pays for messages: your customers, or nobody, because you send for yourself.

    \b
    Examples:
      risala payer
      risala payer set self --parts-per-day 500
    """
    if context.invoked_subcommand is None:
        shown = options.ask(SHOW_PAYER)
        if not output.show(options.json, shown.json):
            _say_payer(shown.value)


@payer.command("set")
@click.argument("who", type=click.Choice(PAYERS), metavar="customers|self")
@click.option(
    "--parts-per-day",
    type=click.IntRange(min=1),
    metavar="N",
    help="With self: the most parts that an organization may send in a day.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def payer_set(options: Options, who: str, parts_per_day: int | None, yes: bool) -> None:
    """Change who pays, from the next message on. What was sent before stays as it is.

    With self nothing has a price and there is no balance: a number of parts a day is the limit.

    \b
    Examples:
      risala payer set self
      risala payer set customers --yes
    """

    async def work(session: GatewaySession) -> Reply[Payer] | None:
        now = (await session.ask(SHOW_PAYER)).value
        if not yes and now.payer != who and not _is_sure(now, who):
            return None
        return await session.ask(SET_PAYER, payer=who, self_parts_per_day=parts_per_day, sure=True)

    changed = options.run(work)
    if changed is None:
        raise CommandRefused("Nothing was changed.")
    if not output.show(options.json, changed.json):
        _say_payer(changed.value)


def _is_sure(now: Payer, who: str) -> bool:
    """Whether to go on; asked twice where there are several organizations."""
    question = (
        "From now on each message takes its price from a balance. Change it?"
        if who == CUSTOMERS
        else "From now on messages have no price, and balances rest. Change it?"
    )
    if not click.confirm(question, err=True):
        return False
    there = output.counted(now.organizations, "organization")
    several = f"This changes it for {there}. Are you sure?"
    return now.organizations <= 1 or click.confirm(several, err=True)


def _say_payer(now: Payer) -> None:
    if now.payer == CUSTOMERS:
        click.echo("Your customers pay: each organization has a balance, and each part a price.")
    else:
        parts = output.counted(now.self_parts_per_day, "part")
        click.echo(
            f"Nobody pays: you send for yourself. An organization may send at most {parts} a day."
        )
    if now.payer != now.settings_payer:
        click.echo(f'The settings say "{now.settings_payer}": an operator changed it since.')
