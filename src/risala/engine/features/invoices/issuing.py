"""Draws invoices up, and issues those of months that have ended.

Each charge and refund is on one invoice, whatever time zones the organization had. An invoice ends
with its month by the organization's present clock, and begins where that of the month before ended,
by the clock of then; both moments are frozen in it. So a change of the time zone between two months
makes the later one some hours longer or shorter. What of it lies before the month's first day has a
line of its own day.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.features.invoices.records import (
    CLOSED_AFTER_MS,
    ISSUE,
    Invoice,
    InvoiceCustomer,
    InvoiceDay,
)
from risala.engine.features.invoices.stored import InvoiceRepository
from risala.engine.features.statements import rules
from risala.engine.features.statements.records import ENTRIES_MAX, Issuer
from risala.engine.features.statements.rules import DaySum, sources_of
from risala.engine.features.statements.stored import StatementRepository
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.callers import PROCESS
from risala.engine.model.errors import StorageFailed, Unavailable
from risala.engine.model.features import Task
from risala.engine.model.records.accounts import DELETED
from risala.engine.model.records.people.organizations import Organization
from risala.engine.rules.days import date_of
from risala.engine.services import Services

log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 3600.0
"""An invoice comes this much late at most."""
TURN_MAX: Final = 50
"""Invoices that are issued in a row: the others of a long time off wait for the next turn."""
PAUSE_S: Final = 5.0
"""Between two turns while there is more: the rest of the service comes first."""
_MORE: Final = 4
"""A day with more entries than are summed at once is tried with so many times as many."""
Span = tuple[int, int]
"""From one moment until before another, in UTC epoch milliseconds."""


def closes_at(first: date, zone: str) -> int:
    """From when on a month has an invoice, in UTC epoch milliseconds."""
    return rules.begins_at(rules.next_month(first), zone) + CLOSED_AFTER_MS


async def first_due(services: Services, organization: Organization) -> date | None:
    """The first day of the month whose invoice comes next; None: there is nothing to invoice.

    It is the oldest in which something was charged or refunded, of those since the last invoice, or
    since the organization's first cost. It may be one that is not over.
    """
    stored = services.repositories.part(InvoiceRepository)
    last = stored.last(organization.id)
    since = 0 if last is None else span_of(last)[1]
    at = await stored.first_cost(organization.id, since)
    if at is None:
        return None
    first = date_of(organization.time_zone, at).replace(day=1)
    return first if last is None else max(first, rules.next_month(_month(last)))


def span_of(invoice: Invoice) -> Span:
    """What an invoice covers."""
    begins_at, ends_at = _usual_span(_month(invoice), invoice.time_zone)
    return (
        begins_at if invoice.begins_at is None else invoice.begins_at,
        ends_at if invoice.ends_at is None else invoice.ends_at,
    )


def _month(invoice: Invoice) -> date:
    return date.fromisoformat(f"{invoice.month}-01")


def _usual_span(first: date, zone: str) -> Span:
    """A month by the clock of a time zone."""
    return rules.begins_at(first, zone), rules.begins_at(rules.next_month(first), zone)


def _own_span(services: Services, organization: Organization, first: date) -> Span:
    """What the invoice of a month covers: it meets those of the months before and after."""
    stored = services.repositories.part(InvoiceRepository)
    begins_at, ends_at = _usual_span(first, organization.time_zone)
    before = stored.of_month(organization.id, rules.written(first - timedelta(days=1)))
    after = stored.of_month(organization.id, rules.written(rules.next_month(first)))
    return (
        begins_at if before is None else span_of(before)[1],
        ends_at if after is None else span_of(after)[0],
    )


async def drawn_up(
    services: Services, organization: Organization, first: date, now_ms: int
) -> Invoice | None:
    """The invoice of a closed month, without its number; None: nothing was charged or refunded.

    The month's entries are all there and never change, so that they are read in parts.
    """
    zone, legal = organization.time_zone, services.settings.legal
    span = _own_span(services, organization, first)
    days = [each for each in await _sums(services, organization.id, span, zone) if _costs(each)]
    if not days:
        return None
    charged = sum(amount for each in days for _, amount in each.charges.values())
    refunded = sum(each.refunded for each in days)
    customer, percent = _customer(services, organization), legal.vat_percent or None
    return Invoice(
        id=services.ids.new("inv"),
        number="",
        organization_id=organization.id,
        organization_name=organization.name,
        issuer=Issuer(legal.name, legal.address, legal.tax_id, legal.trade_register),
        month=rules.written(first),
        time_zone=zone,
        currency=organization.currency,
        sources=sources_of(days),
        days=tuple(
            InvoiceDay(each.day.isoformat(), sources_of([each]), each.refunded) for each in days
        ),
        charged=charged,
        refunded=refunded,
        total=charged - refunded,
        issued_at=now_ms,
        begins_at=span[0],
        ends_at=span[1],
        customer_address=customer.address,
        customer_tax_id=customer.tax_id,
        vat_percent=percent,
        vat=None if percent is None else vat_in(charged - refunded, percent),
    )


def vat_in(total: int, percent: str) -> int:
    """The VAT that is part of a total in minor units, at a rate in percent of what remains without
    it. Halves are rounded away from zero, so that a credit note takes back what was invoiced."""
    rate = Decimal(percent)
    part = Decimal(total) * rate / (100 + rate)
    return int(part.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def _customer(services: Services, organization: Organization) -> InvoiceCustomer:
    """What stands about the customer. The last invoice of a deleted organization, whose details are
    gone, repeats those of the one before."""
    stored = services.repositories.part(InvoiceRepository)
    last = stored.last(organization.id) if organization.status == DELETED else None
    if last is None:
        return stored.customer_of(organization.id)
    return InvoiceCustomer(organization.id, last.customer_address, last.customer_tax_id)


def _costs(day: DaySum) -> bool:
    return bool(day.refunded or any(amount for _, amount in day.charges.values()))


async def _sums(
    services: Services, organization_id: str, span: Span, zone: str
) -> Sequence[DaySum]:
    """What the days of a span sum up to, however many entries they have."""
    left, summed, entries_max = _days_of(span, zone), list[DaySum](), ENTRIES_MAX
    repository = services.repositories.part(StatementRepository)
    while left:
        part = await repository.month_sum(
            organization_id, left, zone, entries_max=entries_max, span=span
        )
        summed += part.days
        until = part.counted_until
        if until is None:
            break
        after = [each for each in left if max(rules.begins_at(each, zone), span[0]) >= until]
        entries_max = ENTRIES_MAX if len(after) < len(left) else entries_max * _MORE
        left = after
    return summed


def _days_of(span: Span, zone: str) -> list[date]:
    """The days of a time zone that have a part of a span."""
    first, last = date_of(zone, span[0]), date_of(zone, span[1] - 1)
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


# -- by itself


async def issue_due(services: Services, looked: dict[str, tuple[str, str]]) -> bool:
    """Issue the invoices of months that have closed since the last ones, of all organizations; of
    deleted ones too. Each organization's months come in their order.

    Args:
        looked: up to which month, and in which time zone, each organization was looked at: what is
            closed never changes.

    Returns:
        Whether there may be more: a turn issues :data:`TURN_MAX` at most.

    Raises:
        Unavailable: it could not be written.
        StorageFailed: it could not be read.
    """
    now_ms, left = services.recorder.clock.now_ms(), TURN_MAX
    items = services.set_aside.loop("invoices")
    for organization in services.repositories.organizations.all():
        until = _last_closed(organization.time_zone, now_ms)
        there = rules.written(until), organization.time_zone
        if looked.get(organization.id) == there or not items.is_free(organization.id):
            continue
        with items.item(organization.id):
            while left and await _issue_next(services, organization, until, now_ms):
                left -= 1
            if not left:
                return True
            looked[organization.id] = there
    return False


def _last_closed(zone: str, now_ms: int) -> date:
    """The first day of the last month that has closed in a time zone."""
    today = date_of(zone, now_ms - CLOSED_AFTER_MS)
    return (today.replace(day=1) - timedelta(days=1)).replace(day=1)


async def _issue_next(
    services: Services, organization: Organization, until: date, now_ms: int
) -> bool:
    """Issue the oldest invoice that is missing, of a month up to one. Returns whether there was
    one."""
    first = await first_due(services, organization)
    if first is None or first > until:
        return False
    draft = await drawn_up(services, organization, first, now_ms)
    if draft is None:
        return False
    by = AuditEntry(
        caller=PROCESS,
        action=ISSUE.name,
        at=now_ms,
        image=AuditImage.INVOICE,
        organization_id=organization.id,
    )
    stored = services.repositories.part(InvoiceRepository)
    issued = await stored.issue(by, draft, services.settings.legal.invoice_series)
    log.info("invoice.issued", number=issued.number, organization=organization.id)
    return True


async def _keep_issuing(services: Services) -> None:
    looked: dict[str, tuple[str, str]] = {}
    while True:
        has_more = False
        try:
            has_more = await issue_due(services, looked)
        except (Unavailable, StorageFailed) as error:
            log.warning("invoices.upkeep", reason=str(error))
        await trio.sleep(PAUSE_S if has_more else LOOK_EVERY_S)


def tasks(services: Services) -> Sequence[Task]:
    return (("invoices", partial(_keep_issuing, services), True),)
