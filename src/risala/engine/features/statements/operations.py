"""What people and programs ask of statements."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.features.statements import rules
from risala.engine.features.statements.records import (
    SENDERS_MAX,
    STATEMENT,
    CostSource,
    Issuer,
    MonthStatement,
    PartsDay,
    SenderCost,
    StatementDay,
)
from risala.engine.features.statements.rules import DaySum, sources_of
from risala.engine.features.statements.stored import MonthSum, StatementRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import ArgumentKind, OfOrganization, fault, maybe, text
from risala.engine.kernel.operation import Call, Operations
from risala.engine.rules.days import date_of
from risala.engine.rules.roles import READERS, VIEWERS


def month_in(value: object) -> date:
    """The first day of a month that somebody wrote.

    Raises:
        Invalid: it is none.
    """
    first = rules.month_of(text(value))
    if first is None:
        raise fault("invalid_month", "`{name}` is a month such as `2026-11`.")
    return first


class OfMonth(OfOrganization):
    """A month of an organization's own time zone."""

    month: Annotated[date | None, PlainValidator(maybe(month_in)), ArgumentKind("month")] = None
    """`2026-11`; without it the present one."""


OPERATIONS: Final = Operations()


@OPERATIONS(STATEMENT, roles=VIEWERS, operators=READERS, owner=owners.named)
async def _statement(call: Call[OfMonth]) -> MonthStatement:
    """What was charged, refunded and paid in a month: by day, and by what was sent."""
    organization = call.services.accounts.fresh_organization(call.arguments.organization_id)
    zone, legal = organization.time_zone, call.services.settings.legal
    today = date_of(zone, call.now_ms)
    first = call.arguments.month or today.replace(day=1)
    repository = call.stored(StatementRepository)
    month = await repository.month_sum(organization.id, rules.days_of(first), zone)
    senders = _senders(month)
    known = await repository.names([of for _, of, *_ in senders if of is not None])
    charged = sum(amount for each in month.days for _, amount in each.charges.values())
    began = min(
        today if month.first_entry_at is None else date_of(zone, month.first_entry_at),
        month.first_parts or today,
    )
    return MonthStatement(
        organization_id=organization.id,
        organization_name=organization.name,
        issuer=Issuer(legal.name, legal.address, legal.tax_id, legal.trade_register),
        time_zone=zone,
        month=rules.written(first),
        currency=organization.currency,
        opening=month.opening,
        closing=month.closing,
        sources=sources_of(month.days),
        senders=tuple(
            SenderCost(source, of, None if of is None else known[of], messages, amount)
            for source, of, messages, amount in senders
        ),
        charged=charged,
        refunded=sum(each.refunded for each in month.days),
        credited=sum(each.credited for each in month.days),
        days=tuple(map(_day, month.days)),
        payments=month.payments,
        own_parts=tuple(PartsDay(day.isoformat(), parts) for day, parts in month.own_parts.items()),
        first_month=rules.written(began),
        ends_at=rules.begins_at(rules.next_month(first), zone),
        counted_until=month.counted_until,
    )


def _day(summed: DaySum) -> StatementDay:
    return StatementDay(
        day=summed.day.isoformat(),
        sources=sources_of([summed]),
        refunded=summed.refunded,
        credited=summed.credited,
        balance_after=summed.balance_after,
    )


_Sender = tuple[CostSource, str | None, int, int]


def _senders(month: MonthSum) -> Sequence[_Sender]:
    """Keys and mailings of a month, the most expensive first; the others of each in one."""
    sums: dict[tuple[CostSource, str], tuple[int, int]] = {}
    for day in month.days:
        for (source, of), cost in day.charges.items():
            if of is not None and source in (CostSource.KEY, CostSource.MAILING):
                sums[source, of] = _added(sums.get((source, of)), cost)
    ranked = sorted(sums.items(), key=lambda each: (-each[1][1], each[0][1]))
    rest: dict[CostSource, tuple[int, int]] = {}
    for (source, _), cost in ranked[SENDERS_MAX:]:
        rest[source] = _added(rest.get(source), cost)
    return [
        *((source, of, *cost) for (source, of), cost in ranked[:SENDERS_MAX]),
        *((source, None, *cost) for source, cost in rest.items()),
    ]


def _added(sums: tuple[int, int] | None, cost: tuple[int, int]) -> tuple[int, int]:
    return cost if sums is None else (sums[0] + cost[0], sums[1] + cost[1])
