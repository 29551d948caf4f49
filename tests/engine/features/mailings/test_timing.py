"""The hours of a mailing, in time zones whose clocks change too; and its pace, in any minute."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.mailings.rules import (
    next_midnight,
    opens_at,
    pace_of,
    seconds_for,
)

NOUAKCHOTT, PARIS, TEHRAN = "Africa/Nouakchott", "Europe/Paris", "Asia/Tehran"


def ms(zone: str, *moment: int) -> int:
    return round(datetime(*moment, tzinfo=ZoneInfo(zone)).timestamp() * 1000)


@pytest.mark.parametrize(
    ("zone", "hours", "now", "opens"),
    [
        (NOUAKCHOTT, (8, 20), (2026, 1, 1, 8, 0), None),
        (NOUAKCHOTT, (8, 20), (2026, 1, 1, 19, 59, 59), None),
        (NOUAKCHOTT, (8, 20), (2026, 1, 1, 20, 0), (2026, 1, 2, 8)),
        (NOUAKCHOTT, (8, 20), (2026, 1, 1, 7, 59), (2026, 1, 1, 8)),
        (NOUAKCHOTT, (8, 20), (2025, 12, 31, 23, 0), (2026, 1, 1, 8)),
        (NOUAKCHOTT, (0, 24), (2026, 1, 1, 23, 59), None),
        (PARIS, (8, 20), (2026, 3, 28, 21, 0), (2026, 3, 29, 8)),  # the night is 23 hours long
        (PARIS, (8, 20), (2026, 10, 24, 21, 0), (2026, 10, 25, 8)),
        (TEHRAN, (9, 10), (2026, 5, 1, 8, 30), (2026, 5, 1, 9)),
    ],
)
def test_a_mailing_sends_within_its_hours(zone, hours, now, opens):
    expected = None if opens is None else ms(zone, *opens)
    assert opens_at(zone, *hours, ms(zone, *now)) == expected


@given(
    zone=st.sampled_from([NOUAKCHOTT, PARIS, TEHRAN, "America/New_York", "Pacific/Apia"]),
    hours=st.tuples(st.integers(0, 23), st.integers(1, 24)).filter(lambda each: each[0] < each[1]),
    now_ms=st.integers(1_600_000_000_000, 1_900_000_000_000),
)
def test_hours_open_after_now_and_soon(zone, hours, now_ms):
    opens = opens_at(zone, *hours, now_ms)
    if opens is not None:
        assert now_ms < opens <= now_ms + 26 * 3_600_000


def test_midnight_is_the_zones():
    assert next_midnight(PARIS, ms(PARIS, 2026, 3, 29, 0, 30)) == ms(PARIS, 2026, 3, 30)
    assert next_midnight(NOUAKCHOTT, ms(NOUAKCHOTT, 2026, 1, 1)) == ms(NOUAKCHOTT, 2026, 1, 2)


@given(per_minute=st.integers(1, 60_000))
def test_no_minute_has_more_than_the_pace_and_few_have_less(per_minute):
    pace = pace_of(per_minute, 100)
    in_a_minute = -(-60_000 // pace.period_ms)
    assert in_a_minute * pace.messages <= per_minute
    assert pace.messages <= 100
    assert in_a_minute * pace.messages >= 0.9 * per_minute


def test_how_long_a_pace_takes():
    assert seconds_for(100, 60) == 100
    assert seconds_for(1, 60_000) == 1
    assert seconds_for(0, 1) == 0
