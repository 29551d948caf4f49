"""Money: what messages cost, who has paid, and what was corrected."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.billing.claims import Adjust, TopUp
from risala.engine.journal.accounts import ledger
from risala.engine.journal.pages import figures
from risala.engine.model.commands import LedgerEntry
from risala.engine.model.money import money
from risala.engine.model.wire import ledger_wire
from risala.engine.operations import owners, traces
from risala.engine.operations.arguments import (
    Amount,
    ArgumentKind,
    Json,
    MaybeFlag,
    MaybeWhole,
    NoArguments,
    OfOrganization,
    SignedAmount,
    maybe,
    words,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.days import day_of
from risala.engine.rules.roles import OPERATORS, VIEWERS

NOTE_MAX: Final = 200
REFERENCE_MAX: Final = 64
"""A payment's reference is copied from a receipt; what is longer is something else."""
ENTRIES_MAX: Final = 500
"""Entries of one answer at most."""
ENTRIES_USUAL: Final = 50
SPENT_DAYS: Final = 7
"""How long a balance lasts is told by the last week: it has one of each day."""


class TakePayment(OfOrganization):
    """Credit a payment by its reference, once."""

    amount: Amount
    reference: Annotated[
        str | None, PlainValidator(maybe(words(REFERENCE_MAX))), ArgumentKind("text on one line")
    ] = None
    """The payment's reference; None: one is made."""
    note: Annotated[
        str | None, PlainValidator(maybe(words(NOTE_MAX))), ArgumentKind("text on one line")
    ] = None


class Correct(OfOrganization):
    """Correct a balance by a signed amount, with the reason."""

    amount: SignedAmount
    reason: Annotated[str, PlainValidator(words(NOTE_MAX)), ArgumentKind("text on one line")]


class ListEntries(OfOrganization):
    """A page of an organization's ledger; with ``by_hand`` only corrections."""

    limit: MaybeWhole = None
    before: MaybeWhole = None
    """The number of an entry: only older ones are listed."""
    by_hand: MaybeFlag = None


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """Ledger entries, the newest first, and the balance of now; amounts in minor units."""

    organization_id: str
    balance: int
    currency: str
    entries: tuple[LedgerEntry, ...]
    next: int | None
    """The ``before`` of the next page; None: this is the last one."""
    spent_a_day: int
    """Charged on a day of the last seven whole ones, on the average: how long the balance lasts."""


@dataclass(frozen=True, slots=True)
class PriceList:
    """The general price of a segment and low balance, in minor units."""

    per_segment: int
    low_balance: int
    currency: str


def _page_wire(page: LedgerPage) -> Json:
    return {
        "organizationId": page.organization_id,
        "balance": money(page.balance),
        "currency": page.currency,
        "entries": [ledger_wire(entry) for entry in page.entries],
        "next": page.next,
        "spentADay": money(page.spent_a_day),
    }


def _prices_wire(prices: PriceList) -> Json:
    return {
        "perSegment": money(prices.per_segment),
        "lowBalance": money(prices.low_balance),
        "currency": prices.currency,
    }


async def _topup(call: Call[TakePayment]) -> LedgerEntry:
    given, services = call.given, call.services
    reference = _western(given.reference or services.ids.new("pay"))
    by = call.sign(
        traces.organization,
        given.organization_id,
        said={"amount": money(given.amount), "reference": reference, "note": given.note},
    )
    entry: LedgerEntry = await services.billing.ask(
        TopUp(given.organization_id, given.amount, reference, given.note, by)
    )
    return entry


def _western(reference: str) -> str:
    """A reference with the digits that references are compared by."""
    plain = unicodedata.normalize("NFKC", reference)
    return "".join(str(unicodedata.digit(one, one)) for one in plain)


async def _adjust(call: Call[Correct]) -> LedgerEntry:
    given, services = call.given, call.services
    reference = services.ids.new("adj")
    by = call.sign(
        traces.organization,
        given.organization_id,
        said={"amount": money(given.amount), "reference": reference, "reason": given.reason},
    )
    entry: LedgerEntry = await services.billing.ask(
        Adjust(given.organization_id, given.amount, reference, given.reason, by)
    )
    return entry


async def _list(call: Call[ListEntries]) -> LedgerPage:
    """The newest entries first."""
    given, services = call.given, call.services
    organization = services.accounts.fresh_organization(given.organization_id)
    limit = max(1, min(given.limit or ENTRIES_USUAL, ENTRIES_MAX))
    found = ledger.entries(
        services.reader,
        organization.id,
        limit + 1,
        before=given.before,
        by_hand=bool(given.by_hand),
    )
    shown = tuple(found[:limit])
    following = shown[-1].seq if len(found) > limit else None
    today = day_of(organization.time_zone, call.now_ms)
    spent = figures.spent(services.reader, organization.id, today - SPENT_DAYS, today)
    return LedgerPage(
        organization.id,
        organization.balance,
        organization.currency,
        shown,
        following,
        spent // SPENT_DAYS,
    )


async def _price(call: Call[NoArguments]) -> PriceList:
    """The general prices of this moment; an organization's own price is shown with it."""
    services = call.services
    return PriceList(
        services.intake.per_segment,
        services.intake.low_balance,
        services.settings.service.currency,
    )


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="topup",
        arguments=TakePayment,
        result=LedgerEntry,
        wire=ledger_wire,
        handler=_topup,
        roles=OPERATORS,
        owner=owners.named,
        changes=True,
        tops_up=True,
    ),
    Operation(
        name="adjust",
        arguments=Correct,
        result=LedgerEntry,
        wire=ledger_wire,
        handler=_adjust,
        roles=OPERATORS,
        owner=owners.named,
        changes=True,
        deleted_too=True,
    ),
    Operation(
        name="ledger.list",
        arguments=ListEntries,
        result=LedgerPage,
        wire=_page_wire,
        handler=_list,
        roles=VIEWERS,
        owner=owners.named,
    ),
    Operation(
        name="price",
        arguments=NoArguments,
        result=PriceList,
        wire=_prices_wire,
        handler=_price,
        roles=VIEWERS,
        for_all=True,
    ),
)
