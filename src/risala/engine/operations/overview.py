"""An organization's figures for the overview and the first steps."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    ModeWord,
    OfOrganization,
    moment,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records import figures
from risala.engine.model.records.figures import FirstSteps, Overview
from risala.engine.model.records.message_lists import MessageFilter
from risala.engine.operations.money import SPENT_DAYS
from risala.engine.rules.days import day_of
from risala.engine.rules.roles import READERS, VIEWERS

FEED_MAX: Final = 8
"""Messages in the feed beside the figures."""
WAITS_TOO_LONG_MS: Final = 300_000
"""Messages leave within seconds; one that has waited five minutes needs attention."""
DAYS_MAX: Final = 100
"""Figures of more hours would hold up the loop for too long."""
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 86_400_000
Moment = Annotated[int, PlainValidator(moment), ArgumentKind("time")]


class ShowOverview(OfOrganization):
    """An organization's figures of a time, and what needs attention now."""

    since: Moment
    until: Moment
    mode: ModeWord = "live"


OPERATIONS: Final = Operations()
_OWN: Final[dict[str, Any]] = {"roles": VIEWERS, "owner": owners.named}


@OPERATIONS(figures.OVERVIEW, operators=READERS, **_OWN)
async def _overview(call: Call[ShowOverview]) -> Overview:
    given, stored = call.given, call.services.repositories.figures
    mine, mode = given.organization_id, given.mode
    zone = call.services.accounts.organization(mine).time_zone
    until_ms = min(given.until, given.since + DAYS_MAX * _DAY_MS)
    since, until = given.since // _HOUR_MS, -(-until_ms // _HOUR_MS)
    back = max(SPENT_DAYS * 24, until - since)
    # Up to the same hour: a day that has just begun is not compared with a whole one.
    so_far = min(until, call.now_ms // _HOUR_MS + 1)
    day, first = day_of(zone, call.now_ms), day_of(zone, given.since)
    last = day_of(zone, until_ms - 1)
    page = call.services.repositories.message_lists.page(MessageFilter(mine, mode), limit=FEED_MAX)
    return Overview(
        hours=stored.hours(mine, mode, since, until),
        networks=stored.networks(mine, mode, since, until),
        median_ms=stored.median_ms(mine, mode, since, until),
        before=stored.hours(mine, mode, since - back, so_far - back),
        funnel=stored.funnel(mine, mode, given.since, until_ms),
        approved_hours=stored.approved_hours(mine, mode, given.since, until_ms),
        spent=stored.spent(mine, first, last + 1),
        spent_by_day=stored.spent_by_day(mine, min(first, last + 1 - SPENT_DAYS), last + 1),
        spent_a_day=stored.spent(mine, day - SPENT_DAYS, day) // SPENT_DAYS,
        feed=page.messages,
        uncertain=stored.uncertain(mine, mode),
        waiting_since=stored.waiting_since(mine, call.now_ms - WAITS_TOO_LONG_MS),
        disabled_endpoints=sum(
            not each.enabled and each.mode == mode
            for each in call.services.repositories.endpoints.of_organization(mine)
        ),
    )


@OPERATIONS(figures.STEPS, operators=READERS, **_OWN)
async def _steps(call: Call[OfOrganization]) -> FirstSteps:
    call.services.accounts.organization(call.given.organization_id)
    return call.services.repositories.figures.first_steps(call.given.organization_id)
