"""The price of messages, and payments."""

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
from risala.cli.show import output
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.paying.ledger import PRICE, TOP_UP, LedgerEntry, PriceList
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
        found = await organization_id(session, org)
        entry = await session.ask(
            TOP_UP, organization_id=found, amount=amount, reference=reference, note=note
        )
        return entry, (await session.ask(SHOW, organization_id=found)).value

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
        wanted = await organization_id(session, organization)
        return general, [(await session.ask(SHOW, organization_id=wanted)).value]

    general, found = options.run(work)
    told = [
        {key: to_json(each)[key] for key in ("id", "name", "pricePerSegment", "currency")}
        for each in found
    ]
    if output.show(options.json, {**general.json, "organizations": told}):
        return
    cost = output.money(general.value.per_segment, general.value.currency)
    click.echo(f"A segment costs {cost} (pricing.per_segment in the settings).")
    shown = [each for each in found if organization or each.price_per_segment is not None]
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
    found = changed.value
    now = money_of(found.price_per_segment, found.currency) or "the general price"
    output.said(f"A segment of {output.clean(found.name)} costs {now}.")
