"""Calendar days of an organization's own time zone. Pure, with the tables of time zones."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_EPOCH: Final = date(1970, 1, 1).toordinal()


def day_of(zone: str, at_ms: int) -> int:
    """The day that a moment (UTC epoch milliseconds) belongs to, as days since 1970-01-01."""
    return _day_of(zone, at_ms // 1000)


@lru_cache(maxsize=1024)
def _day_of(zone: str, at_s: int) -> int:
    """Cached, because many messages are in the same second."""
    return datetime.fromtimestamp(at_s, ZoneInfo(zone)).toordinal() - _EPOCH


def date_of(zone: str, at_ms: int) -> date:
    """The date of a moment (UTC epoch milliseconds) in a time zone."""
    return datetime.fromtimestamp(at_ms / 1000, ZoneInfo(zone)).date()


def midnight(zone: str, at_ms: int) -> int:
    """When the day of a moment began in that time zone; both in UTC epoch milliseconds."""
    there = datetime.fromtimestamp(at_ms / 1000, ZoneInfo(zone))
    began = there.replace(hour=0, minute=0, second=0, microsecond=0)
    return round(began.timestamp() * 1000)


@lru_cache(maxsize=1024)
def _next_midnight(zone: str, day: date) -> int:
    began = datetime.combine(day + timedelta(days=1), datetime.min.time(), ZoneInfo(zone))
    return round(began.timestamp() * 1000)


def next_midnight(zone: str, at_ms: int) -> int:
    """When the day of a moment ends in that time zone; both in UTC epoch milliseconds."""
    return _next_midnight(zone, date_of(zone, at_ms))


def is_zone(name: str) -> bool:
    """Whether this is the name of a time zone, such as ``Africa/Nouakchott``."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: a folder's name (``Africa``)
        return False
    return True
