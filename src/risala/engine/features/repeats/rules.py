"""When a mailing that repeats is due, in its organization's time zone. Pure, with the tables of
time zones."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from itertools import islice
from typing import Final
from zoneinfo import ZoneInfo

from risala.dataclass import dataclass
from risala.engine.features.repeats.records import (
    DAYS,
    MailingRepeat,
    MomentNote,
    RepeatUnit,
    UpcomingRun,
)
from risala.engine.rules.days import date_of

LATE_MS: Final = 3_600_000
"""A run that could not begin for so long is missed, and does not take place (contract §15): people
would get at night what was meant for the morning. A restart and a takeover take seconds."""
_MS: Final = 1000
_MONTHS: Final = 12
_WEEK: Final = 7
_TIME: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])").fullmatch
_LAST_YEAR: Final = 9990
"""No calendar goes on for ever: Python's ends with the year 9999."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """On which days a mailing repeats, and at what time."""

    unit: RepeatUnit
    every: int
    days: tuple[str, ...]
    month_days: tuple[int, ...]
    time: str
    starts_on: date
    until: date | None


@dataclass(frozen=True, slots=True)
class Due:
    at: int
    """UTC epoch milliseconds."""
    note: MomentNote | None


def rhythm_of(repeat: MailingRepeat) -> Rhythm:
    """The rhythm of a repeat."""
    return Rhythm(
        repeat.unit,
        repeat.every,
        repeat.days,
        repeat.month_days,
        repeat.time,
        date.fromisoformat(repeat.starts_on),
        None if repeat.until is None else date.fromisoformat(repeat.until),
    )


def is_time(text: str) -> bool:
    """Whether a text is a time of day, such as ``08:00``."""
    return _TIME(text) is not None


def is_day(text: str) -> bool:
    """Whether a text is a day, such as ``2026-12-01``, of which years can be counted on."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return False
    return day.isoformat() == text and 1970 <= day.year < _LAST_YEAR


def dues(rhythm: Rhythm, zone: str, after_ms: int) -> Iterator[Due]:
    """The runs after a moment, in their order: each moment once."""
    there = date_of(zone, after_ms)
    last_ms = after_ms
    # A day before, because the clocks may have been moved between that day's run and now.
    for day, is_moved in _dates(rhythm, there - timedelta(days=1)):
        if rhythm.until is not None and day > rhythm.until:
            return
        due = _due(zone, day, rhythm.time, is_moved=is_moved)
        if due.at > last_ms:
            last_ms = due.at
            yield due


def next_due(rhythm: Rhythm, zone: str, after_ms: int) -> int | None:
    """When the next run after a moment is due; None: there is none."""
    return next((due.at for due in dues(rhythm, zone, after_ms)), None)


def upcoming(rhythm: Rhythm, zone: str, first_ms: int, most: int) -> tuple[UpcomingRun, ...]:
    """The runs from a moment on."""
    ahead = islice(dues(rhythm, zone, first_ms - 1), most)
    return tuple(UpcomingRun(due.at, due.note) for due in ahead)


def missed_until(rhythm: Rhythm, zone: str, first_ms: int, late_ms: int) -> tuple[int, int]:
    """The last run before a time, and how many it are from ``first_ms``, which is one, on."""
    last, count = first_ms, 1
    for due in dues(rhythm, zone, first_ms):
        if due.at >= late_ms:
            break
        last, count = due.at, count + 1
    return last, count


def _due(zone: str, day: date, time: str, *, is_moved: bool) -> Due:
    """The moment of a day's run. Of an hour that the clocks skip, ``fold=0`` takes the offset from
    before (PEP 495): half past two becomes half past three. Of one that comes twice it is the
    first."""
    hour, minute = int(time[:2]), int(time[3:])
    there = datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone))
    at = round(there.timestamp() * _MS)
    again = datetime.fromtimestamp(at / _MS, ZoneInfo(zone))
    note = MomentNote.SHORT_MONTH if is_moved else None
    if again.replace(tzinfo=None) != there.replace(tzinfo=None):
        note = MomentNote.SKIPPED_HOUR
    elif there.replace(fold=1).utcoffset() != there.utcoffset():
        note = MomentNote.SECOND_HOUR
    return Due(at, note)


def _dates(rhythm: Rhythm, first: date) -> Iterator[tuple[date, bool]]:
    """The days of runs from a day on, in their order, and whether each is the last of a month in
    place of one that the month does not have."""
    start = max(first, rhythm.starts_on)
    match rhythm.unit:
        case RepeatUnit.DAYS:
            yield from _by_days(rhythm, start)
        case RepeatUnit.WEEKS:
            yield from _by_weeks(rhythm, start)
        case RepeatUnit.MONTHS:
            yield from _by_months(rhythm, start)


def _by_days(rhythm: Rhythm, start: date) -> Iterator[tuple[date, bool]]:
    passed = (start - rhythm.starts_on).days
    day = rhythm.starts_on + timedelta(days=-(-passed // rhythm.every) * rhythm.every)
    while day.year < _LAST_YEAR:
        yield day, False
        day += timedelta(days=rhythm.every)


def _by_weeks(rhythm: Rhythm, start: date) -> Iterator[tuple[date, bool]]:
    """Weeks begin on Monday, as ISO 8601 counts them."""
    places = [DAYS.index(each) for each in rhythm.days] or [rhythm.starts_on.weekday()]
    monday = rhythm.starts_on - timedelta(days=rhythm.starts_on.weekday())
    passed = (start - monday).days // _WEEK // rhythm.every
    monday += timedelta(weeks=passed * rhythm.every)
    while monday.year < _LAST_YEAR:
        for place in sorted(places):
            day = monday + timedelta(days=place)
            if day >= start:
                yield day, False
        monday += timedelta(weeks=rhythm.every)


def _by_months(rhythm: Rhythm, start: date) -> Iterator[tuple[date, bool]]:
    days_of_month = rhythm.month_days or (rhythm.starts_on.day,)
    first = rhythm.starts_on.year * _MONTHS + rhythm.starts_on.month - 1
    passed = (start.year * _MONTHS + start.month - 1 - first) // rhythm.every
    month = first + passed * rhythm.every
    while month // _MONTHS < _LAST_YEAR:
        year, number = divmod(month, _MONTHS)
        length = monthrange(year, number + 1)[1]
        for number_of_day in sorted({min(each, length) for each in days_of_month}):
            day = date(year, number + 1, number_of_day)
            if day >= start:
                yield day, number_of_day not in days_of_month
        month += rhythm.every
