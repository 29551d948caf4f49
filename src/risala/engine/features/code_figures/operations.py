"""What people and programs ask of codes' counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Annotated, Final

from pydantic import PlainValidator

from risala.engine.features.code_figures.counting import CodeCounting
from risala.engine.features.code_figures.rules import MEDIAN, MOST, time_within
from risala.engine.features.code_figures.stored.counts import (
    CodeCountRepository,
    CodeQuery,
    DayCell,
    Days,
)
from risala.engine.features.code_figures.stored.sessions import CodeCounts
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Flag,
    MaybeMoment,
    ModeWord,
    Moment,
    OfMaybeOrganization,
    one_of,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.errors import Invalid
from risala.engine.model.records.verify.figures import (
    DAILY,
    FIGURES,
    KEPT_DAYS,
    LINES_MAX,
    CodeDays,
    CodeFigure,
    CodeFigures,
    FiguresBy,
)
from risala.engine.rules.days import day_of
from risala.engine.rules.roles import READERS, VIEWERS

_EPOCH: Final = date(1970, 1, 1)
_DAY_MS: Final = 86_400_000
_NOTHING: Final = (0, 0)


class SumCodes(OfMaybeOrganization):
    """What became of an organization's codes of some days of its own time zone; or of all codes, of
    days of UTC."""

    since: Moment
    """The first day is the one in which this moment is."""
    until: MaybeMoment = None
    """The last day is the one in which the moment before this is; without it, the present day."""
    by: Annotated[
        str,
        PlainValidator(one_of("invalid_by", (each.value for each in FiguresBy))),
        ArgumentKind("word"),
    ] = FiguresBy.DAY.value
    """What the items are of."""
    mode: ModeWord = "live"
    daily: Flag = False
    """Whether the networks and the languages with most codes are told day by day too."""


OPERATIONS: Final = Operations()


@OPERATIONS(
    FIGURES, roles=VIEWERS, operators=READERS, owner=owners.named, reads_all_organizations=True
)
async def _figures(call: Call[SumCodes]) -> CodeFigures:
    arguments, by = call.arguments, FiguresBy(call.arguments.by)
    zone, currency = "UTC", call.services.settings.service.currency
    if arguments.organization_id is not None:
        organization = call.services.accounts.organization(arguments.organization_id)
        zone, currency = organization.time_zone, organization.currency
    elif by is FiguresBy.KEY:
        text = "`by` can be `key` for one organization alone: its keys are its own."
        raise Invalid("by", "invalid_by", text)
    first, last = _days(zone, arguments.since, arguments.until, call.now_ms)
    daily = DAILY if arguments.daily else ()
    sums = await call.stored(CodeCountRepository).sums(
        CodeQuery(arguments.organization_id, arguments.mode, by, first, last, daily),
        call.services.part(CodeCounting).country_of,
    )
    whole = CodeCounts()
    for each in sums.by.values():
        whole.add(each)
    items = [_figure(_named(value), each) for value, each in sums.by.items()]
    if by is FiguresBy.DAY:
        items.sort(key=lambda each: each.of or "")
    else:
        items.sort(key=lambda each: (-each.asked, each.of or ""))
    lines = tuple(_lines(sums.days, range(first, last + 1))) if daily else ()
    return CodeFigures(by, currency, _figure(None, whole), tuple(items), sums.counted_until, lines)


def _lines(counts: Days, days: range) -> Iterator[CodeDays]:
    """All codes of each day, then those of what has most codes."""
    for by in DAILY:
        sizes, whole = Counter[str](), dict[int, tuple[int, int]]()
        for cell, count in counts.items():
            if cell.by is by:
                sizes[cell.of] += count[0]
                before = whole.get(cell.day, _NOTHING)
                whole[cell.day] = (before[0] + count[0], before[1] + count[1])
        if by is DAILY[0]:
            yield _line(FiguresBy.DAY, None, [whole.get(day, _NOTHING) for day in days])
        for of, _ in sorted(sizes.items(), key=lambda each: (-each[1], each[0]))[:LINES_MAX]:
            of_days = [counts.get(DayCell(by, of, day), _NOTHING) for day in days]
            yield _line(by, of or None, of_days)


def _line(by: FiguresBy, of: str | None, counts: Sequence[tuple[int, int]]) -> CodeDays:
    return CodeDays(
        by=by,
        of=of,
        asked=tuple(each for each, _ in counts),
        entered=tuple(each for _, each in counts),
    )


def _days(zone: str, since: int, until: int | None, now_ms: int) -> tuple[int, int]:
    """The first and the last day: none before those that are kept, and none after tomorrow."""
    since = min(max(since, now_ms - KEPT_DAYS * _DAY_MS), now_ms + _DAY_MS)
    until = now_ms + 1 if until is None else min(until, now_ms + _DAY_MS)
    first = day_of(zone, since)
    return first, day_of(zone, until - 1) if until > since else first - 1


def _named(value: str | int) -> str | None:
    if isinstance(value, int):
        return (_EPOCH + timedelta(days=value)).isoformat()
    return value or None


def _figure(of: str | None, counted: CodeCounts) -> CodeFigure:
    return CodeFigure(
        of=of,
        asked=counted.asked,
        sent=counted.sent,
        delivered=counted.delivered,
        entered=counted.entered,
        within_minute=counted.in_minute,
        median_seconds=time_within(counted.times, MEDIAN),
        p90_seconds=time_within(counted.times, MOST),
        cost=counted.cost,
    )
