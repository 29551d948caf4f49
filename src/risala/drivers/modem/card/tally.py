"""Keeps the quota of the SIM that is in the modem, on disk before a segment leaves.

A crash in between can only count a segment that did not leave, never forget one that did.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from risala.drivers.modem.card.quota import PREFIX, Counted, Quota, outdated
from risala.drivers.modem.notefile import ModemNotes
from risala.sms.message import Segment

_LAST: Final = f"{PREFIX}last"
"""The name of the last seen SIM: a modem may sometimes fail to report it."""
_UNKNOWN: Final = "unknown"


class QuotaTally:
    """Each SIM has its own quota, in any modem and port."""

    def __init__(
        self,
        notes: ModemNotes,
        now_ms: Callable[[], int],
        segments_per_day_max: int | None = None,
        recipients_per_month_max: int | None = None,
    ) -> None:
        self._notes = notes
        self._now_ms = now_ms
        self._limits = (segments_per_day_max, recipients_per_month_max)
        self._sim = ""
        self._unwritten: dict[str, str | None] = {}
        self.quota = Quota(*self._limits)

    def take_sim(self, sim: str) -> None:
        """Continue with this SIM's quota. Empty: the SIM does not identify itself."""
        known = self._notes.recall(PREFIX)
        sim = sim or self._sim or known.get(_LAST) or _UNKNOWN
        if sim == self._sim:
            return
        self._sim = sim
        self._unwritten = dict.fromkeys(outdated(known, self._now_ms()))
        if known.get(_LAST) != sim:
            self._unwritten[_LAST] = sim
        own = {key: text for key, text in known.items() if key.startswith(f"{PREFIX}{sim}/")}
        self.quota = Quota(*self._limits, sim=sim, notes=own)

    async def count(self, segment: Segment, segments: int = 1) -> Counted:
        """Count a segment that is about to leave; returns once the count is on disk.

        Args:
            segments: what it is counted as, where it is a whole text.

        Raises:
            NotStoredError: the disk did not take it; the segment is not counted.
        """
        quota = self.quota
        counted = quota.count(segment, self._now_ms(), segments)
        try:
            await self._notes.remember({**self._unwritten, **counted.notes})
        except BaseException:
            quota.give_back(counted)
            raise
        self._unwritten = {}
        return counted

    def give_back(self, counted: Counted) -> None:
        """Take back a segment that was counted and did not leave."""
        self.quota.give_back(counted)
