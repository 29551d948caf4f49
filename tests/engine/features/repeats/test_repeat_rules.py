"""When a mailing that repeats is due: by days, weeks and months, over changes of the clocks."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from itertools import islice, pairwise
from zoneinfo import ZoneInfo

import pytest

from risala.engine.features.repeats.records import DAYS, MomentNote, RepeatUnit
from risala.engine.features.repeats.rules import (
    LATE_MS,
    Rhythm,
    dues,
    is_day,
    is_time,
    missed_until,
    next_due,
)

PARIS, NOUAKCHOTT, APIA = "Europe/Paris", "Africa/Nouakchott", "Pacific/Apia"
DAY_MS = 86_400_000


def rhythm(
    unit="days", every=1, days=(), month_days=(), time="10:00", starts="2026-01-01", until=None
):
    last = None if until is None else date.fromisoformat(until)
    first = date.fromisoformat(starts)
    return Rhythm(RepeatUnit(unit), every, days, month_days, time, first, last)


def ms(text, zone=NOUAKCHOTT):
    return round(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)


def ahead(given, after="2025-12-31T00:00", zone=NOUAKCHOTT, most=5):
    """The next runs, as the clocks there show them."""
    found = islice(dues(given, zone, ms(after, zone)), most)
    there = (datetime.fromtimestamp(due.at / 1000, ZoneInfo(zone)) for due in found)
    return [f"{each:%Y-%m-%dT%H:%M}" for each in there]


def test_days_are_counted_from_the_first():
    assert ahead(rhythm(every=3), most=3) == [
        "2026-01-01T10:00",
        "2026-01-04T10:00",
        "2026-01-07T10:00",
    ]
    assert ahead(rhythm(every=3), after="2026-01-05T09:00", most=1) == ["2026-01-07T10:00"]
    assert ahead(rhythm(), after="2026-01-05T10:00", most=1) == ["2026-01-06T10:00"], "not again"


def test_weeks_begin_on_monday():
    every_monday = rhythm("weeks", days=("mon",))  # 2026-01-01 is a Thursday
    assert ahead(every_monday, most=2) == ["2026-01-05T10:00", "2026-01-12T10:00"]
    assert ahead(rhythm("weeks", every=2), most=3) == [
        "2026-01-01T10:00",
        "2026-01-15T10:00",
        "2026-01-29T10:00",
    ]
    both = rhythm("weeks", every=2, days=("mon", "sun"))
    assert ahead(both, most=4) == [
        "2026-01-04T10:00",  # the Monday of that week was before the first day
        "2026-01-12T10:00",
        "2026-01-18T10:00",
        "2026-01-26T10:00",
    ]


def test_a_month_without_the_day_has_its_last():
    given = rhythm("months", month_days=(31,), starts="2026-01-31")
    found = [*islice(dues(given, NOUAKCHOTT, ms("2026-01-01T00:00")), 4)]
    assert [due.note for due in found] == [None, MomentNote.SHORT_MONTH, None, "short_month"]
    assert ahead(given, most=4) == [
        "2026-01-31T10:00",
        "2026-02-28T10:00",
        "2026-03-31T10:00",
        "2026-04-30T10:00",
    ]
    once = rhythm("months", month_days=(29, 30, 31))
    assert ahead(once, after="2026-02-01T00:00", most=2) == ["2026-02-28T10:00", "2026-03-29T10:00"]
    leap = rhythm("months", every=12, starts="2024-02-29")
    assert ahead(leap, after="2024-01-01T00:00", most=5)[::4] == [
        "2024-02-29T10:00",
        "2028-02-29T10:00",
    ]


def test_months_are_counted_from_the_first():
    two = rhythm("months", every=2, month_days=(1, 15), starts="2026-11-10")
    assert ahead(two, after="2026-11-01T00:00", most=4) == [
        "2026-11-15T10:00",
        "2027-01-01T10:00",
        "2027-01-15T10:00",
        "2027-03-01T10:00",
    ]
    assert ahead(two, after="2027-02-01T00:00", most=1) == ["2027-03-01T10:00"]


def test_the_last_day_is_one_of_them():
    given = rhythm("weeks", until="2026-01-15")
    assert len(ahead(given, most=9)) == 3
    assert next_due(given, NOUAKCHOTT, ms("2026-01-15T10:00")) is None


def test_a_skipped_hour_is_later_and_a_second_one_is_left():
    half_two = rhythm(time="02:30", starts="2026-03-28")
    found = [*islice(dues(half_two, PARIS, ms("2026-03-28T00:00", PARIS)), 3)]
    assert [due.note for due in found] == [None, MomentNote.SKIPPED_HOUR, None]
    assert ahead(half_two, "2026-03-28T00:00", PARIS, 3) == [
        "2026-03-28T02:30",
        "2026-03-29T03:30",
        "2026-03-30T02:30",
    ]
    twice = [*islice(dues(half_two, PARIS, ms("2026-10-24T12:00", PARIS)), 2)]
    assert [due.note for due in twice] == [MomentNote.SECOND_HOUR, None]
    assert twice[1].at - twice[0].at == 25 * 3_600_000, "the first of the two, and once"


def test_a_day_that_a_country_skips_is_no_second_run():
    given = rhythm(starts="2011-12-28")
    assert ahead(given, "2011-12-29T00:00", APIA, 3) == [
        "2011-12-29T10:00",
        "2011-12-31T10:00",
        "2012-01-01T10:00",
    ]


@pytest.mark.parametrize("zone", [PARIS, NOUAKCHOTT, "Australia/Lord_Howe", "America/Sao_Paulo"])
@pytest.mark.parametrize("time", ["00:00", "02:30", "23:59"])
def test_a_year_has_each_day_once(zone, time):
    given = rhythm(time=time, starts="2025-06-01")
    at, days = ms("2026-01-01T00:00", zone) - 1, []
    while (at := next_due(given, zone, at)) < ms("2027-01-01T00:00", zone):
        days.append(datetime.fromtimestamp(at / 1000, ZoneInfo(zone)).date())
    assert days == [date(2026, 1, 1) + timedelta(days=each) for each in range(365)]


@pytest.mark.parametrize("unit", ["days", "weeks", "months"])
def test_it_is_the_same_wherever_one_looks(unit):
    """What is next does not depend on how far it was reckoned before."""
    given = rhythm(unit, every=3, days=DAYS[::2], month_days=(1, 30, 31), time="02:30")
    whole = [due.at for due in islice(dues(given, PARIS, ms("2026-01-01T00:00")), 60)]
    for before, at in pairwise(whole):
        assert next_due(given, PARIS, before) == at
        assert next_due(given, PARIS, at - 1) == at


def test_missed_runs_are_counted():
    given = rhythm()
    first, late = ms("2026-01-03T10:00"), ms("2026-01-06T12:00")
    assert missed_until(given, NOUAKCHOTT, first, late - LATE_MS + 1) == (
        ms("2026-01-06T10:00"),
        4,
    )
    assert missed_until(given, NOUAKCHOTT, first, first + 1) == (first, 1)


def test_there_is_an_end_of_the_calendar():
    for unit in ("weeks", "months"):
        assert next_due(rhythm(unit, every=99), NOUAKCHOTT, ms("9990-01-01T00:00")) is None
    assert next_due(rhythm(), NOUAKCHOTT, ms("9990-01-01T00:00")) is None


@pytest.mark.parametrize("text", ["24:00", "8:00", "08:60", "", "٠٨:٠٠", "08:00 "])
def test_what_is_no_time(text):
    assert not is_time(text)


@pytest.mark.parametrize("text", ["2026-02-29", "20260101", "2026-1-1", "", "9999-01-01", "today"])
def test_what_is_no_day(text):
    assert not is_day(text)
    assert is_day("2028-02-29")
