"""What a SIM may send: segments a day, distinct recipients a month. Pure.

Operators cut SIMs off that send more, "unlimited" plans too. Counted in memory, from zero after a
restart: see docs/how-to/usb-modem.md. Days and months are those of UTC, the time of Mauritania.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from risala.sms.message import Segment

_RECIPIENTS_KEPT_MAX: Final = 1_000_000
_BEGUN_MAX_MS: Final = 300_000
"""A message between two parts keeps the day open this long; then it was given up."""


class Quota:
    """Counts what may have left, also what the network refused: so do operators."""

    def __init__(
        self, segments_per_day_max: int | None = None, recipients_per_month_max: int | None = None
    ) -> None:
        self.segments_max = segments_per_day_max
        self.recipients_max = recipients_per_month_max
        self.segments = 0
        self._recipients: set[str] = set()
        self._day = ""
        self._is_closed = False
        self._begun_ms: int | None = None

    @property
    def recipients(self) -> int:
        return len(self._recipients)

    def day_is_over(self, now_ms: int) -> bool:
        """True where no message may begin before the next day, and none is between two parts."""
        self._roll(now_ms)
        if self._begun_ms is not None and now_ms - self._begun_ms < _BEGUN_MAX_MS:
            return False
        return self._is_closed or (
            self.segments_max is not None and self.segments >= self.segments_max
        )

    def refuses(self, segment: Segment, now_ms: int) -> bool:
        """True where a message may not begin today. One that has begun is brought to its end.

        A message that does not fit ends the day: else small ones would overtake it for ever.
        """
        self._roll(now_ms)
        if self.segments_max is None or segment.number > 1:
            return False
        needed = min(segment.total, self.segments_max)  # more than a day's: in a day of its own
        if self._is_closed or self.segments + needed > self.segments_max:
            self._is_closed = True
        return self._is_closed

    def refuses_recipient(self, segment: Segment, now_ms: int) -> bool:
        """True for a new recipient when the month's are used up."""
        self._roll(now_ms)
        return (
            self.recipients_max is not None
            and segment.number == 1
            and segment.recipient not in self._recipients
            and len(self._recipients) >= self.recipients_max
        )

    def count(self, segment: Segment, now_ms: int) -> None:
        """One segment has left."""
        self._roll(now_ms)
        self.segments += 1
        if segment.total > 1:
            self._begun_ms = now_ms if segment.number < segment.total else None
        if len(self._recipients) < (self.recipients_max or _RECIPIENTS_KEPT_MAX):
            self._recipients.add(segment.recipient)

    def _roll(self, now_ms: int) -> None:
        day = _at(now_ms).strftime("%Y-%m-%d")
        if day == self._day:
            return
        if day[:7] != self._day[:7]:
            self._recipients.clear()
        self._day, self.segments, self._is_closed = day, 0, False

    @staticmethod
    def next_day_s(now_ms: int) -> float:
        """Seconds until the next day."""
        now = _at(now_ms)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return (midnight - now).total_seconds()


def _at(now_ms: int) -> datetime:
    return datetime.fromtimestamp(now_ms / 1000, UTC)
