"""Calendar days of a time zone."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime

import pytest

from risala.engine.rules.days import day_of, is_zone, midnight


def at(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("zone", "moment", "day"),
    [
        ("Africa/Nouakchott", "2026-11-22T23:59:59.999", "2026-11-22"),
        ("Africa/Nouakchott", "2026-11-23T00:00:00", "2026-11-23"),
        ("Europe/Paris", "2026-11-22T23:00:00", "2026-11-23"),
        ("Europe/Paris", "2026-07-22T22:00:00", "2026-07-23"),  # summer time
        ("Asia/Kathmandu", "2026-11-22T18:14:59", "2026-11-22"),
        ("Asia/Kathmandu", "2026-11-22T18:15:00", "2026-11-23"),
        ("America/Santiago", "2026-09-06T03:59:59", "2026-09-05"),
        ("America/Santiago", "2026-09-06T04:00:00", "2026-09-06"),  # a day without midnight
    ],
)
def test_a_day_ends_at_the_zones_own_midnight(zone, moment, day):
    assert day_of(zone, at(moment)) == (date.fromisoformat(day) - date(1970, 1, 1)).days


@pytest.mark.parametrize("name", ["", "Mars/Base", "Africa", "../etc/passwd", "/etc/localtime"])
def test_what_is_no_zone(name):
    assert not is_zone(name)
    assert is_zone("Africa/Nouakchott")


@pytest.mark.parametrize(
    ("zone", "moment", "began"),
    [
        ("Africa/Nouakchott", "2026-11-22T23:59:59.999", "2026-11-22T00:00:00"),
        ("Africa/Nouakchott", "2026-11-22T00:00:00", "2026-11-22T00:00:00"),
        ("Europe/Paris", "2026-11-22T22:59:59.5", "2026-11-21T23:00:00"),
        ("Europe/Paris", "2026-11-22T23:00:00", "2026-11-22T23:00:00"),
        ("Asia/Kathmandu", "2026-11-22T18:14:59", "2026-11-21T18:15:00"),
        ("Africa/Nouakchott", "1969-12-31T12:00:00", "1969-12-31T00:00:00"),
    ],
)
def test_when_a_day_began(zone, moment, began):
    assert midnight(zone, at(moment)) == at(began)


def test_days_before_the_epoch_count_down():
    assert day_of("Africa/Nouakchott", -1) == -1
    assert day_of("Africa/Nouakchott", -500) == -1
    assert day_of("Africa/Nouakchott", 0) == 0


def test_zones_are_known_where_the_system_has_no_table_of_them():
    zoneinfo.reset_tzpath(to=())
    try:
        assert zoneinfo.ZoneInfo.no_cache("Africa/Nouakchott").key == "Africa/Nouakchott"
    finally:
        zoneinfo.reset_tzpath()
