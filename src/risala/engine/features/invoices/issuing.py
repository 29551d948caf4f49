"""Draws invoices up, and issues those of months that have ended."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import Final

import structlog
import trio

from risala.engine.features.invoices.records import CLOSED_AFTER_MS, ISSUE, Invoice, InvoiceDay
from risala.engine.features.invoices.stored import InvoiceRepository
from risala.engine.features.statements import rules
from risala.engine.features.statements.records import ENTRIES_MAX, Issuer
from risala.engine.features.statements.rules import DaySum, sources_of
from risala.engine.features.statements.stored import StatementRepository
from risala.engine.model.audit import AuditEntry, AuditImage
from risala.engine.model.callers import PROCESS
from risala.engine.model.errors import StorageFailed, Unavailable
from risala.engine.model.features import Task
from risala.engine.model.records.people.organizations import Organization
from risala.engine.rules.days import date_of
from risala.engine.services import Services

log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 3600.0
"""An invoice comes this much late at most."""
_MORE: Final = 4
"""A day with more entries than are summed at once is tried with so many times as many."""


def closes_at(first: date, zone: str) -> int:
    """From when on a month has an invoice, in UTC epoch milliseconds."""
    return rules.begins_at(rules.next_month(first), zone) + CLOSED_AFTER_MS


async def drawn_up(
    services: Services, organization: Organization, first: date, now_ms: int
) -> Invoice | None:
    """The invoice of a closed month, without its number; None: nothing was charged or refunded.

    The month's entries are all there and never change, so that they are read in parts.
    """
    zone, legal = organization.time_zone, services.settings.legal
    days = [each for each in await _sums(services, organization.id, first, zone) if _costs(each)]
    if not days:
        return None
    charged = sum(amount for each in days for _, amount in each.charges.values())
    refunded = sum(each.refunded for each in days)
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
    )


def _costs(day: DaySum) -> bool:
    return bool(day.refunded or any(amount for _, amount in day.charges.values()))


async def _sums(
    services: Services, organization_id: str, first: date, zone: str
) -> Sequence[DaySum]:
    """What the days of a month sum up to, however many entries they have."""
    left, summed, entries_max = rules.days_of(first), list[DaySum](), ENTRIES_MAX
    repository = services.repositories.part(StatementRepository)
    while left:
        part = await repository.month_sum(organization_id, left, zone, entries_max=entries_max)
        summed += part.days
        if part.counted_until is None:
            break
        after = [each for each in left if rules.begins_at(each, zone) >= part.counted_until]
        entries_max = ENTRIES_MAX if len(after) < len(left) else entries_max * _MORE
        left = after
    return summed


# -- by itself


async def issue_due(services: Services, looked: dict[str, str]) -> None:
    """Issue the invoices of the last months that have closed, of all organizations; of deleted ones
    too.

    Args:
        looked: the last month that was looked at of each organization: a closed one never changes.

    Raises:
        Unavailable: it could not be written.
        StorageFailed: it could not be read.
    """
    now_ms = services.recorder.clock.now_ms()
    items = services.set_aside.loop("invoices")
    for organization in services.repositories.organizations.all():
        first = _last_closed(organization.time_zone, now_ms)
        month = rules.written(first)
        if looked.get(organization.id) == month or not items.is_free(organization.id):
            continue
        with items.item(organization.id):
            await _issue(services, organization, first, now_ms)
            looked[organization.id] = month


def _last_closed(zone: str, now_ms: int) -> date:
    """The first day of the last month that has closed in a time zone."""
    today = date_of(zone, now_ms - CLOSED_AFTER_MS)
    return (today.replace(day=1) - timedelta(days=1)).replace(day=1)


async def _issue(services: Services, organization: Organization, first: date, now_ms: int) -> None:
    stored = services.repositories.part(InvoiceRepository)
    if stored.of_month(organization.id, rules.written(first)) is not None:
        return
    draft = await drawn_up(services, organization, first, now_ms)
    if draft is None:
        return
    by = AuditEntry(
        caller=PROCESS,
        action=ISSUE.name,
        at=now_ms,
        image=AuditImage.INVOICE,
        organization_id=organization.id,
    )
    issued = await stored.issue(by, draft, services.settings.legal.invoice_series)
    log.info("invoice.issued", number=issued.number, organization=organization.id)


async def _keep_issuing(services: Services) -> None:
    looked: dict[str, str] = {}
    while True:
        try:
            await issue_due(services, looked)
        except (Unavailable, StorageFailed) as error:
            log.warning("invoices.upkeep", reason=str(error))
        await trio.sleep(LOOK_EVERY_S)


def tasks(services: Services) -> Sequence[Task]:
    return (("invoices", partial(_keep_issuing, services), True),)
