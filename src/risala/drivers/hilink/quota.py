"""How many parts a stick's SIM sends in a day: operators disconnect SIMs that send more.

Counted on disk before a text leaves: a crash can count one that did not leave, and never forget
one that did. What the network refused counts too.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from risala.plugins.contract import Declined, DriverContext

_NOTE: Final = "quota"
_DAY_MS: Final = 86_400_000
_USED_UP: Final = "The SIM's segments of today are used up (segments_per_day_max = {most})."
_NEEDS_MORE: Final = (
    "{used} of the SIM's {most} segments of today are used up (segments_per_day_max = {most}), and "
    "the next message needs more."
)


class StickQuota:
    """The day of one carrier's stick.

    Args:
        most: parts a day (UTC); None: no limit, and nothing is counted.
        now_ms: UTC epoch milliseconds.
    """

    def __init__(self, context: DriverContext, most: int | None, now_ms: Callable[[], int]) -> None:
        self._context = context
        self.most = most
        self._now_ms = now_ms
        day, _, count = context.recall(_NOTE).get(_NOTE, "").partition(" ")
        self._day, self._count = day, int(count or 0)

    @property
    def today(self) -> int:
        """Parts of this day."""
        self._roll()
        return self._count

    def declines(self, parts: int) -> Declined | None:
        """Why so many parts may not leave now; None: they may. A text of more parts than a day
        allows leaves on a day that has nothing in it yet."""
        if self.most is None or self.today + min(parts, self.most) <= self.most:
            return None
        text = _USED_UP if self._count >= self.most else _NEEDS_MORE
        until_ms = (self._now_ms() // _DAY_MS + 1) * _DAY_MS
        return Declined(text.format(used=self._count, most=self.most), until_ms)

    @property
    def attention(self) -> str | None:
        """A sentence once the day is used up."""
        declined = self.declines(1)
        return None if declined is None else declined.text

    async def count(self, parts: int) -> None:
        """Count what is about to leave.

        Raises:
            NotStoredError: the disk did not take it, and it must not leave.
        """
        if self.most is None:
            return
        self._roll()
        await self._context.remember({_NOTE: f"{self._day} {self._count + parts}"})
        self._count += parts

    def give_back(self, parts: int) -> None:
        """Take back what did not leave. The note is put right by the next count."""
        if self.most is not None:
            self._count = max(0, self.today - parts)

    def _roll(self) -> None:
        day = datetime.fromtimestamp(self._now_ms() / 1000, UTC).strftime("%Y-%m-%d")
        if day != self._day:
            self._day, self._count = day, 0
