"""Figures of an organization, and of the whole service."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.features.overview import records as figures
from risala.engine.features.overview.records import (
    FirstSteps,
    LatestMessages,
    Overview,
    ServiceOverview,
)
from risala.engine.features.overview.stored import FiguresRepository
from risala.engine.features.overview.stored_latest import LatestRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeWhole,
    ModeWord,
    Moment,
    NoArguments,
    OfOrganization,
    fault,
    text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.message_lists import MessageFilter
from risala.engine.model.records.upkeep.service import (
    DAY_MINUTES,
    HOUR_MINUTES,
    MINUTE_MS,
)
from risala.engine.operations.money import SPENT_DAYS
from risala.engine.operations.system import machine
from risala.engine.rules.days import day_of, midnight
from risala.engine.rules.roles import OPERATORS, READERS, VIEWERS

FEED_MAX: Final = 8
"""Messages in the feed beside the figures."""
WAITS_TOO_LONG_MS: Final = 300_000
"""Messages leave within seconds; one that has waited five minutes needs attention."""
DAYS_MAX: Final = 100
"""Figures of more hours would hold up the loop for too long."""
_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 86_400_000


class ShowOverview(OfOrganization):
    """An organization's figures of a time, and what needs attention now."""

    since: Moment
    until: Moment
    mode: ModeWord = "live"


OPERATIONS: Final = Operations()
_OWN: Final[dict[str, Any]] = {"roles": VIEWERS, "owner": owners.named}


@OPERATIONS(figures.OVERVIEW, operators=READERS, **_OWN)
async def _overview(call: Call[ShowOverview]) -> Overview:
    arguments, theirs = call.arguments, call.services.repositories
    stored = theirs.part(FiguresRepository)
    mine, mode = arguments.organization_id, arguments.mode
    zone = call.services.accounts.organization(mine).time_zone
    until_ms = min(arguments.until, arguments.since + DAYS_MAX * _DAY_MS)
    since, until = arguments.since // _HOUR_MS, -(-until_ms // _HOUR_MS)
    back = max(SPENT_DAYS * 24, until - since)
    # Up to the same hour: a day that has just begun is not compared with a whole one.
    so_far = min(until, call.now_ms // _HOUR_MS + 1)
    day, first = day_of(zone, call.now_ms), day_of(zone, arguments.since)
    last = day_of(zone, until_ms - 1)
    page = theirs.message_lists.page(MessageFilter(mine, mode), limit=FEED_MAX)
    return Overview(
        hours=stored.hours(mine, mode, since, until),
        networks=stored.networks(mine, mode, since, until),
        median_ms=stored.median_ms(mine, mode, since, until),
        before=stored.hours(mine, mode, since - back, so_far - back),
        funnel=theirs.verifications.funnel(mine, mode, arguments.since, until_ms),
        approved_hours=stored.approved_hours(mine, mode, arguments.since, until_ms),
        spent=theirs.ledger.spent(mine, first, last + 1),
        spent_by_day=stored.spent_by_day(mine, min(first, last + 1 - SPENT_DAYS), last + 1),
        spent_a_day=theirs.ledger.spent(mine, day - SPENT_DAYS, day) // SPENT_DAYS,
        feed=page.messages,
        uncertain=stored.uncertain(mine, mode),
        waiting_since=stored.waiting_since(mine, call.now_ms - WAITS_TOO_LONG_MS),
        disabled_endpoints=sum(
            not each.enabled and each.mode == mode
            for each in theirs.endpoints.of_organization(mine)
        ),
        failures=stored.failures(mine, mode, arguments.since, until_ms),
    )


@OPERATIONS(figures.STEPS, operators=READERS, **_OWN)
async def _steps(call: Call[OfOrganization]) -> FirstSteps:
    services, organization_id = call.services, call.arguments.organization_id
    services.accounts.organization(organization_id)
    return services.repositories.part(FiguresRepository).first_steps(organization_id)


# -- the whole service, from running counts


MINUTES_USUAL: Final = 60
MINUTES_MAX: Final = 180
HOURS_USUAL: Final = 48
HOURS_MAX: Final = 72
"""Each hour is a sum of sixty minutes: all take about twenty milliseconds."""
FAILURES_MAX: Final = 20
FAILURES_HOURS: Final = 24
UNSERVED_MAX: Final = 1000
"""The most messages that are counted."""


def _by(value: object) -> int:
    try:
        return {"minute": 1, "hour": HOUR_MINUTES}[text(value)]
    except KeyError:
        raise fault("invalid_step", "`{name}` is `minute` or `hour`.") from None


class ShowService(Arguments):
    """Counts of the whole service, by minute or hour."""

    by: Annotated[int, PlainValidator(_by), ArgumentKind("`minute` or `hour`")] = 1
    count: MaybeWhole = None
    """How many minutes or hours, the current one last."""


def _count(arguments: ShowService) -> int:
    usual, most = (MINUTES_USUAL, MINUTES_MAX) if arguments.by == 1 else (HOURS_USUAL, HOURS_MAX)
    return max(1, min(arguments.count or usual, most))


@OPERATIONS(figures.LATEST, roles=OPERATORS, operators=READERS)
async def _latest(call: Call[NoArguments]) -> LatestMessages:
    return await call.stored(LatestRepository).latest(call.now_ms)


@OPERATIONS(figures.SERVICE, roles=OPERATORS, operators=READERS)
async def _show_service(call: Call[ShowService]) -> ServiceOverview:
    arguments, services = call.arguments, call.services
    now_ms, counts = call.now_ms, services.recorder.minutes
    # Up to the end of the current minute or hour.
    now = now_ms // MINUTE_MS + 1
    end = -(-now // arguments.by) * arguments.by
    series = counts.series(end - _count(arguments) * arguments.by, end, arguments.by)
    today = midnight(services.settings.plan.home.time_zone, now_ms) // MINUTE_MS
    hour, day = HOUR_MINUTES, DAY_MINUTES
    return ServiceOverview(
        at=now_ms,
        series=tuple(series),
        last_minute=counts.flow(now - 2, now - 1),  # the last complete one
        last_hour=counts.flow(now - hour, now),
        last_hour_yesterday=counts.flow(now - day - hour, now - day),
        today=counts.flow(today, now),
        yesterday=counts.flow(today - day, now - day),
        failures=tuple(counts.failures(now // hour - FAILURES_HOURS, FAILURES_MAX)),
        unserved=services.repositories.queue.unserved(UNSERVED_MAX),
        webhooks=services.repositories.deliveries.behind(now_ms),
        mails=services.repositories.mails.waiting(),
        decide=services.repositories.storage.deciding(call.now_ms),
        machine=machine(services.settings.storage.data_dir),
    )
