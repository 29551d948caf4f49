"""The whole service at a glance, from running counts."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeWhole,
    fault,
    text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.records.upkeep.minutes import DAY_MINUTES, HOUR_MINUTES, MINUTE_MS
from risala.engine.model.records.upkeep.service import OVERVIEW, ServiceOverview
from risala.engine.operations.console.system import machine
from risala.engine.rules.days import midnight
from risala.engine.rules.roles import OPERATORS, READERS

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


def _count(given: ShowService) -> int:
    usual, most = (MINUTES_USUAL, MINUTES_MAX) if given.by == 1 else (HOURS_USUAL, HOURS_MAX)
    return max(1, min(given.count or usual, most))


OPERATIONS: Final = Operations()


@OPERATIONS(OVERVIEW, roles=OPERATORS, operators=READERS)
async def _show(call: Call[ShowService]) -> ServiceOverview:
    given, services = call.given, call.services
    now_ms, counts = call.now_ms, services.recorder.minutes
    # Up to the end of the current minute or hour.
    now = now_ms // MINUTE_MS + 1
    end = -(-now // given.by) * given.by
    series = counts.series(end - _count(given) * given.by, end, given.by)
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
        decide=services.repositories.figures.deciding(call.now_ms),
        machine=machine(services.settings.storage.data_dir),
    )
