"""Calendar days of a time zone."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, date, datetime

import pytest

from risala.engine.rules.days import day_of, is_zone


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


def test_zones_are_known_where_the_system_has_no_table_of_them():
    zoneinfo.reset_tzpath(to=())
    try:
        assert zoneinfo.ZoneInfo.no_cache("Africa/Nouakchott").key == "Africa/Nouakchott"
    finally:
        zoneinfo.reset_tzpath()
