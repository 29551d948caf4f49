"""Looks at texts that stand in the audit trail already.

A page that is loaded again, or stays open and draws itself anew, shows its reader what they have
just seen. One line a minute says as much as one for each time, and who looks does not wait for a
disk in between.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

HOLDS_MS: Final = 60_000
"""So long a line stands for the same look again: the trail tells to the minute who saw what."""
KEPT_MAX: Final = 2000
"""About 2 MB. With more at once the oldest is forgotten, and leaves a line when it comes again."""


class AuditedReads:
    """What was noted last of each look: who, by which operation, with which arguments."""

    def __init__(self) -> None:
        self._noted: OrderedDict[Hashable, int] = OrderedDict()

    def stands(self, look: Hashable, now_ms: int) -> bool:
        """Whether a line stands for this look."""
        noted_at = self._noted.get(look)
        # Where the clock was set back, a line that seems to be of the future stands for nothing.
        return noted_at is not None and 0 <= now_ms - noted_at < HOLDS_MS

    def note(self, look: Hashable, now_ms: int) -> None:
        """A line was written for this look."""
        self._noted[look] = now_ms
        self._noted.move_to_end(look)
        if len(self._noted) > KEPT_MAX:
            self._noted.popitem(last=False)
