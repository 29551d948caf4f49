"""The limits of a SIM: segments a day, distinct recipients a month. Pure.

Operators disconnect SIMs that send more, even with "unlimited" plans. The counts are stored by
:mod:`risala.drivers.modem.card.tally`. Days and months are those
of UTC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from risala.dataclass import dataclass
from risala.sms.message import Segment

_BEGUN_MAX_MS: Final = 300_000
"""A message of which some parts were sent keeps its day open for the rest this long after the last
of them; then it counts as given up."""
_RECIPIENTS_A_NOTE: Final = 200
"""Each takes 16 characters and a blank: a note has room for 4096."""
_MONTH_DAYS_MAX: Final = 31
PREFIX: Final = "quota/"
_DAY: Final = "day"
_MONTH: Final = "month"


@dataclass(frozen=True, slots=True)
class Counted:
    """One segment in the books."""

    notes: dict[str, str | None]
    """Notes to write, by key; None deletes one."""
    day: str
    month: str
    recipient: str
    """The recipient that was added to the month's; empty if it was among them already."""
    segments: int = 1


class Quota:
    """The quota of one SIM. Counts every segment that may have left, even one that the network
    refused: operators count so too.

    Args:
        segments_per_day_max: segments a day; None: no limit.
        recipients_per_month_max: distinct recipients a month; None: no limit, nothing is counted.
        sim: the SIM's name in the notes.
        notes: the stored notes of this SIM, by key.
    """

    def __init__(
        self,
        segments_per_day_max: int | None = None,
        recipients_per_month_max: int | None = None,
        *,
        sim: str = "sim",
        notes: Mapping[str, str] | None = None,
    ) -> None:
        self.segments_max = segments_per_day_max
        self.recipients_max = recipients_per_month_max
        self._prefix = f"{PREFIX}{sim}/"
        # Usually one day and one month; more if the clock goes back, as at a start on boards
        # without a battery-backed clock.
        self._days: dict[str, int] = {}
        self._months: dict[str, dict[str, None]] = {}
        self._day = self._month = ""
        self._is_closed = False
        self._begun_ms: int | None = None
        for key in sorted(notes or {}):
            self._load(key, (notes or {})[key])

    def _load(self, key: str, text: str) -> None:
        kind, when, *_ = key.removeprefix(self._prefix).split("/")
        if kind == _DAY:
            count, _, begun_ms = text.partition(" ")
            self._days[when] = int(count)
            self._begun_ms = int(begun_ms) if begun_ms else None
        elif kind == _MONTH and self.recipients_max is not None:
            self._months.setdefault(when, {}).update(dict.fromkeys(text.split()))

    @property
    def segments(self) -> int:
        return self._days.get(self._day, 0)

    @property
    def recipients(self) -> int | None:
        """Distinct recipients of this month; None without a limit, as they are not counted."""
        return None if self.recipients_max is None else len(self._recipients)

    @property
    def _recipients(self) -> dict[str, None]:
        return self._months.get(self._month, {})

    def day_is_over(self, now_ms: int) -> bool:
        """True if no message may begin before the next day, and none has parts left to send."""
        self._roll(now_ms)
        if self._begun_ms is not None and 0 <= now_ms - self._begun_ms < _BEGUN_MAX_MS:
            return False
        return self._is_closed or (
            self.segments_max is not None and self.segments >= self.segments_max
        )

    def refuses(self, segment: Segment, now_ms: int) -> bool:
        """True if a message may not begin today. One that has begun is finished.

        A message that does not fit ends the day: else small ones would overtake it for ever.
        """
        return segment.number == 1 and self.closes_day(segment.total, now_ms)

    def closes_day(self, segments: int, now_ms: int) -> bool:
        """As :meth:`refuses`, for a message of so many segments that has not begun: if it does not
        fit, the day is closed to all others too."""
        self._is_closed = not self.fits(segments, now_ms)
        return self._is_closed

    def fits(self, segments: int, now_ms: int) -> bool:
        """True if a message of so many segments may begin today."""
        self._roll(now_ms)
        if self.segments_max is None:
            return True
        # A message of more segments than a day allows begins on a day that has nothing in it yet.
        needed = min(segments, self.segments_max)
        return not self._is_closed and self.segments + needed <= self.segments_max

    def refuses_recipient(self, segment: Segment, now_ms: int) -> bool:
        """True for a new recipient when the month's are used up."""
        return (
            segment.number == 1
            and self.month_is_over(now_ms)
            and segment.recipient not in self._recipients
        )

    def knows(self, recipient: str) -> bool:
        """True if the SIM has sent to this recipient in this month."""
        return recipient in self._recipients

    def month_is_over(self, now_ms: int) -> bool:
        """True if no further number may be used this month."""
        self._roll(now_ms)
        return self.recipients_max is not None and len(self._recipients) >= self.recipients_max

    def count(self, segment: Segment, now_ms: int, segments: int = 1) -> Counted:
        """Count a segment that is about to leave; write down the notes before it does.

        Args:
            segments: what it is counted as, where it is a whole text.
        """
        self._roll(now_ms)
        self._days[self._day] = self.segments + segments
        if segment.total > 1:
            self._begun_ms = now_ms if segment.number < segment.total else None
        begun = "" if self._begun_ms is None else f" {self._begun_ms}"
        notes: dict[str, str | None] = dict.fromkeys(self._outdated())
        notes[f"{self._prefix}{_DAY}/{self._day}"] = f"{self.segments}{begun}"
        recipient = ""
        if self.recipients_max is not None and segment.recipient not in self._recipients:
            recipient = segment.recipient
            self._months.setdefault(self._month, {})[recipient] = None
            key, text = self._newest_recipients()
            notes[key] = text
        return Counted(notes, self._day, self._month, recipient, segments)

    def give_back(self, counted: Counted) -> None:
        """Take back a segment that did not leave. The notes that were written for it are put right
        when the next one is counted."""
        if counted.day in self._days:
            self._days[counted.day] -= counted.segments
        self._months.get(counted.month, {}).pop(counted.recipient, None)

    def _newest_recipients(self) -> tuple[str, str]:
        everybody = list(self._recipients)
        at = (len(everybody) - 1) // _RECIPIENTS_A_NOTE
        some = everybody[at * _RECIPIENTS_A_NOTE :]
        return f"{self._prefix}{_MONTH}/{self._month}/{at:04}", " ".join(some)

    def _roll(self, now_ms: int) -> None:
        day = _at(now_ms).strftime("%Y-%m-%d")
        if day != self._day:
            self._day, self._month, self._is_closed = day, day[:7], False

    def _outdated(self) -> list[str]:
        """Drop past days and months; the keys of their notes."""
        keys = [f"{self._prefix}{_DAY}/{day}" for day in self._days if day < self._day]
        self._days = {day: count for day, count in self._days.items() if day >= self._day}
        for month in [month for month in self._months if month < self._month]:
            notes = -(-len(self._months.pop(month)) // _RECIPIENTS_A_NOTE)
            keys += [f"{self._prefix}{_MONTH}/{month}/{at:04}" for at in range(notes)]
        return keys

    @staticmethod
    def next_day_s(now_ms: int) -> float:
        """Seconds until the next day."""
        now = _at(now_ms)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        return (midnight - now).total_seconds()

    @staticmethod
    def next_month_s(now_ms: int) -> float:
        """Seconds until the next month."""
        now = _at(now_ms)
        first = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        following = (first + timedelta(days=_MONTH_DAYS_MAX)).replace(day=1)
        return (following - now).total_seconds()


def outdated(keys: Iterable[str], now_ms: int) -> list[str]:
    """The keys, of any SIM's notes, that are about past days and months."""
    day = _at(now_ms).strftime("%Y-%m-%d")
    now = {_DAY: day, _MONTH: day[:7]}
    outdated_keys = []
    for key in keys:
        kind, when = (*key.removeprefix(PREFIX).split("/"), "", "")[1:3]
        if kind in now and when < now[kind]:
            outdated_keys.append(key)
    return outdated_keys


def _at(now_ms: int) -> datetime:
    return datetime.fromtimestamp(now_ms / 1000, UTC)
