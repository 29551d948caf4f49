"""The ledger: each movement of an organization's balance, and corrections by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from risala.cli.commands.accounts.asking import asks
from risala.cli.commands.accounts.organizations import (
    optional_org,
    organization_and_amount,
    organization_id,
)
from risala.cli.reach.options import Options, common
from risala.cli.show import output
from risala.engine.model.records.asks import Reply
from risala.engine.model.records.ledger import ADJUST, LIST, LedgerEntry, LedgerPage
from risala.engine.model.records.people.organizations import SHOW, Organization

if TYPE_CHECKING:
    from risala.cli.reach.performer import GatewaySession


@click.command()
@optional_org
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="The most to show."
)
@click.option("--before", type=int, metavar="ENTRY", help="Only entries older than this one.")
@click.option(
    "--by-hand", is_flag=True, help="Only top-ups and adjustments, not the charges of messages."
)
@asks(LIST)
def ledger(page: LedgerPage, before: int | None) -> None:
    """List the changes of ORG's balance, newest first, with the balance after each.

    \b
    Examples:
      risala ledger
      risala ledger "My shop" --by-hand --limit 20
    """
    output.table(
        ("Entry", "At (UTC)", "Kind", "Amount", "Balance", "Reference", "Note"),
        (
            (
                entry.seq,
                output.at(entry.at),
                entry.kind,
                output.money(entry.amount, page.currency),
                output.money(entry.balance_after, page.currency),
                _reference(entry),
                entry.note or "",
            )
            for entry in page.entries
        ),
        empty="There are no entries." if before is None else "There are no older entries.",
    )
    output.tell_older(page.next)


def _reference(entry: LedgerEntry) -> str:
    """The reference of an entry; a batch's charge has the first of its messages."""
    others = (entry.messages or 1) - 1
    return f"{entry.reference} and {others} more" if others else entry.reference


# An amount may begin with a minus, which click would take for an option.
@click.command(context_settings={"ignore_unknown_options": True})
@organization_and_amount
@click.option("--reason", required=True, help="The reason, which is kept in the ledger.")
@common
def adjust(options: Options, org: str | None, amount: str, reason: str) -> None:
    """Correct the balance of ORG (its id or name) by AMOUNT: 5, or -5.25 to take away.

    \b
    Example: risala adjust "My shop" -5.25 --reason "Topped up twice"
    """

    async def work(session: GatewaySession) -> tuple[Reply[LedgerEntry], Organization]:
        organization = await organization_id(session, org)
        entry = await session.ask(
            ADJUST, organization_id=organization, amount=amount, reason=reason
        )
        return entry, (await session.ask(SHOW, organization_id=organization)).value

    entry, after = options.run(work)
    if not output.show(options.json, {**entry.json, "currency": after.currency}):
        by = output.money(entry.value.amount, after.currency)
        balance = output.money(entry.value.balance_after, after.currency)
        output.said(f"Adjusted {output.clean(after.name)} by {by}: the balance is {balance}.")
