"""When a mailing may send: its hours of the day, and its pace. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from risala.dataclass import dataclass

HOURS: Final = 24
_MINUTE_S: Final = 60
_MS: Final = 1000


def opens_at(zone: str, from_hour: int, to_hour: int, now_ms: int) -> int | None:
    """When the hours of a mailing begin next, in UTC epoch milliseconds; None: it is within them.

    Args:
        zone: the organization's time zone.
        from_hour: it sends from this hour of the day on …
        to_hour: … until this one begins; 24 is the end of the day.
    """
    there = datetime.fromtimestamp(now_ms / _MS, ZoneInfo(zone))
    if from_hour <= there.hour < to_hour:
        return None
    day = there.date() if there.hour < from_hour else there.date() + timedelta(days=1)
    opening = datetime(day.year, day.month, day.day, from_hour, tzinfo=ZoneInfo(zone))
    # At an hour that the clocks skip, the moment may be past: it is within the hours then.
    return max(now_ms + 1, round(opening.timestamp() * _MS))


def next_midnight(zone: str, now_ms: int) -> int:
    """When the next day begins in that time zone, in UTC epoch milliseconds."""
    day = datetime.fromtimestamp(now_ms / _MS, ZoneInfo(zone)).date() + timedelta(days=1)
    begins = datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone))
    return round(begins.timestamp() * _MS)


@dataclass(frozen=True, slots=True)
class MailingPace:
    """Messages that leave together, and the time from one such group to the next: in any minute
    there are never more than the pace allows."""

    messages: int
    period_ms: int


def pace_of(per_minute: int, messages_max: int) -> MailingPace:
    """Groups for so many messages a minute: one each second, or a single message at a time.

    Args:
        messages_max: a group has no more; then there are several in a second.
    """
    messages = max(1, min(messages_max, -(-per_minute // _MINUTE_S)))
    groups = max(1, per_minute // messages)
    return MailingPace(messages, -(-_MINUTE_S * _MS // groups))


def seconds_for(messages: int, per_minute: int) -> int:
    """How long so many messages take at a pace, in seconds."""
    return -(-messages * _MINUTE_S // per_minute)
