"""How much a SIM may send: in half an hour, and in a day. Pure.

Android counts the texts of an app in half an hour and asks on the screen beyond 30, where nobody
looks; operators disconnect SIMs that send many a day.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Final

from risala.drivers.phone.settings import PhoneSettings
from risala.plugins.contract import Declined

WINDOW_MINUTES: Final = 30
_MINUTE_MS: Final = 60_000
_DAY_MS: Final = 86_400_000


class PhoneQuota:
    """What one SIM has sent, and what it may still send.

    Args:
        stored: what :attr:`note` said before a restart.
    """

    def __init__(self, settings: PhoneSettings, stored: str = "") -> None:
        self._per_minute = settings.per_minute
        self._window_max = max(1, round(settings.per_minute * WINDOW_MINUTES))
        self._day_max = settings.per_day_max
        self._day = 0
        self._today = 0
        self._minutes: dict[int, int] = {}
        if stored:
            fields = json.loads(stored)
            self._day, self._today = fields["day"], fields["today"]
            self._minutes = {int(minute): count for minute, count in fields["minutes"].items()}

    @property
    def note(self) -> str:
        """What is to be remembered."""
        fields = {"day": self._day, "today": self._today, "minutes": self._minutes}
        return json.dumps(fields, separators=(",", ":"))

    def today(self, now_ms: int) -> int:
        """Segments of this day (UTC)."""
        self._roll(now_ms)
        return self._today

    def declines(self, segments: int, now_ms: int) -> Declined | None:
        """Why so many segments may not be sent now; None: they may.

        A message of more segments than a day or half an hour allows goes when nothing else was
        sent in it.
        """
        self._roll(now_ms)
        if self._day_max is not None and self._today + min(segments, self._day_max) > self._day_max:
            text = (
                f"The phone's segments of today are used up (per_day_max = {self._day_max}); "
                "operators disconnect SIMs that send more."
            )
            return Declined(text, (self._day + 1) * _DAY_MS)
        needed = min(segments, self._window_max)
        if (over := sum(self._minutes.values()) + needed - self._window_max) > 0:
            text = (
                f"The phone has sent {self._window_max} segments in half an hour (per_minute = "
                f"{self._per_minute:g}); beyond some 30 Android asks on its screen."
            )
            return Declined(text, self._free_at(over))
        return None

    def count(self, segments: int, now_ms: int) -> None:
        """Count what is about to be handed to the phone."""
        self._roll(now_ms)
        minute = now_ms // _MINUTE_MS
        self._today += segments
        self._minutes[minute] = self._minutes.get(minute, 0) + segments

    def give_back(self, segments: int, counted_at_ms: int) -> None:
        """Take back what the phone did not fetch."""
        minute = counted_at_ms // _MINUTE_MS
        if minute in self._minutes:
            self._minutes[minute] = max(0, self._minutes[minute] - segments)
        if counted_at_ms // _DAY_MS == self._day:
            self._today = max(0, self._today - segments)

    def _free_at(self, over: int) -> int:
        for minute in sorted(self._minutes):
            over -= self._minutes[minute]
            if over <= 0:
                return (minute + WINDOW_MINUTES + 1) * _MINUTE_MS
        return (max(self._minutes) + WINDOW_MINUTES + 1) * _MINUTE_MS

    def _roll(self, now_ms: int) -> None:
        day, minute = now_ms // _DAY_MS, now_ms // _MINUTE_MS
        if day != self._day:
            self._day, self._today = day, 0
        kept = range(minute - WINDOW_MINUTES, minute + 1)
        self._minutes = {each: count for each, count in self._minutes.items() if each in kept}


def day_of(now_ms: int) -> str:
    """The day of a time, as people write it (UTC)."""
    return datetime.fromtimestamp(now_ms / 1000, UTC).strftime("%Y-%m-%d")
