"""Reads that are already in the audit trail.

A page that is reloaded, or stays open and refreshes itself, shows its reader what they have just
seen. One line a minute is enough for all of them, and in between the reader does not wait for a
disk.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

HOLDS_MS: Final = 60_000
"""How long a line covers the same read: the trail is exact to the minute."""
KEPT_MAX: Final = 2000
"""About 2 MB. Beyond that the oldest is forgotten, and leaves a line when it comes again."""


class AuditedReads:
    """The last note of each read: who, by which operation, with which arguments."""

    def __init__(self) -> None:
        self._noted: OrderedDict[Hashable, int] = OrderedDict()

    def stands(self, look: Hashable, now_ms: int) -> bool:
        """Whether a line covers this read."""
        noted_at = self._noted.get(look)
        # If the clock was set back, a line that seems to be from the future covers nothing.
        return noted_at is not None and 0 <= now_ms - noted_at < HOLDS_MS

    def note(self, look: Hashable, now_ms: int) -> None:
        """A line was written for this read."""
        self._noted[look] = now_ms
        self._noted.move_to_end(look)
        if len(self._noted) > KEPT_MAX:
            self._noted.popitem(last=False)
