"""The whole service at a glance, from what is counted as it happens."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.commands import TIME_ZONE
from risala.engine.model.people_records.mails import MailsWaiting
from risala.engine.model.records.figures import Deciding
from risala.engine.model.records.messages import Unserved
from risala.engine.model.records.minutes import (
    DAY_MINUTES,
    HOUR_MINUTES,
    MINUTE_MS,
    FailureShare,
    Flow,
    FlowAt,
)
from risala.engine.model.records.webhooks import BEHIND_COUNTED_MAX, Behind
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations.arguments import (
    ArgumentKind,
    Arguments,
    Json,
    MaybeWhole,
    fault,
    text,
)
from risala.engine.operations.console.system import Machine, machine, machine_wire
from risala.engine.operations.operation import Call, Operation
from risala.engine.rules.days import midnight
from risala.engine.rules.roles import OPERATORS

MINUTES_USUAL: Final = 60
MINUTES_MAX: Final = 180
HOURS_USUAL: Final = 48
HOURS_MAX: Final = 72
"""Each is summed up of sixty minutes: some twenty milliseconds."""
FAILURES_MAX: Final = 20
FAILURES_HOURS: Final = 24
UNSERVED_MAX: Final = 1000
"""Messages that are counted at most."""


def _by(value: object) -> int:
    try:
        return {"minute": 1, "hour": HOUR_MINUTES}[text(value)]
    except KeyError:
        raise fault("invalid_step", "`{name}` is `minute` or `hour`.") from None


class ShowService(Arguments):
    """What happens in the whole service, by the minute or by the hour."""

    by: Annotated[int, PlainValidator(_by), ArgumentKind("`minute` or `hour`")] = 1
    count: MaybeWhole = None
    """How many minutes or hours, up to the present one."""


@dataclass(frozen=True, slots=True)
class ServiceOverview:
    """Figures of live messages; nothing in it has a number or a text."""

    at: int
    series: tuple[FlowAt, ...]
    last_minute: Flow
    last_hour: Flow
    last_hour_yesterday: Flow
    today: Flow
    yesterday: Flow
    """Up to the same moment."""
    failures: tuple[FailureShare, ...]
    unserved: Unserved
    webhooks: Behind
    mails: MailsWaiting
    decide: Deciding
    machine: Machine


def _wire(found: ServiceOverview) -> Json:
    return {
        "at": iso(found.at),
        "series": [
            {"at": iso(each.minute * MINUTE_MS), **asdict(each.flow)} for each in found.series
        ],
        "lastMinute": asdict(found.last_minute),
        "lastHour": asdict(found.last_hour),
        "lastHourYesterday": asdict(found.last_hour_yesterday),
        "today": asdict(found.today),
        "yesterdayByNow": asdict(found.yesterday),
        "failures": [
            {
                "cause": each.cause,
                "text": cause_text(each.cause),
                "carrier": each.carrier or None,
                "carrierCode": each.word or None,
                "messages": each.messages,
            }
            for each in found.failures
        ],
        "unserved": {
            "messages": found.unserved.count,
            "prefixes": list(found.unserved.prefixes),
        },
        "webhooks": {
            "behind": found.webhooks.count,
            "isCut": found.webhooks.count >= BEHIND_COUNTED_MAX,
            "endpoints": found.webhooks.of,
            "oldestAt": maybe_iso(found.webhooks.oldest),
        },
        "mails": {
            "waiting": found.mails.waiting,
            "failing": found.mails.failing,
            "oldestAt": maybe_iso(found.mails.oldest),
        },
        "decide": asdict(found.decide),
        "machine": machine_wire(found.machine),
    }


def _count(given: ShowService) -> int:
    usual, most = (MINUTES_USUAL, MINUTES_MAX) if given.by == 1 else (HOURS_USUAL, HOURS_MAX)
    return max(1, min(given.count or usual, most))


async def _show(call: Call[ShowService]) -> ServiceOverview:
    given, services = call.given, call.services
    now_ms, counts = call.now_ms, services.recorder.minutes
    # Up to the end of the minute, or of the hour, that is not over yet.
    now = now_ms // MINUTE_MS + 1
    end = -(-now // given.by) * given.by
    series = counts.series(end - _count(given) * given.by, end, given.by)
    today = midnight(TIME_ZONE, now_ms) // MINUTE_MS
    hour, day = HOUR_MINUTES, DAY_MINUTES
    return ServiceOverview(
        at=now_ms,
        series=tuple(series),
        last_minute=counts.flow(now - 2, now - 1),  # the last that is over
        last_hour=counts.flow(now - hour, now),
        last_hour_yesterday=counts.flow(now - day - hour, now - day),
        today=counts.flow(today, now),
        yesterday=counts.flow(today - day, now - day),
        failures=tuple(counts.failures(now // hour - FAILURES_HOURS, FAILURES_MAX)),
        unserved=services.repositories.queue.unserved(UNSERVED_MAX),
        webhooks=services.repositories.deliveries.behind(now_ms),
        mails=services.repositories.mails.waiting(),
        decide=services.repositories.figures.deciding(),
        machine=machine(services.settings.storage.data_dir),
    )


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="console.overview",
        arguments=ShowService,
        result=ServiceOverview,
        wire=_wire,
        handler=_show,
        roles=OPERATORS,
    ),
)
