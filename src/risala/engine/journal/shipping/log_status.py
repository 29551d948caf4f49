"""What is known of the log that answers wait for, at one moment."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import field
from typing import Final

from risala.dataclass import dataclass

WAIT_STEPS_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0)
"""The histogram's limits: from a machine next to this one to a failover."""


@dataclass(slots=True)
class LogWaits:
    """How long batches took until the store had them. One thread adds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(WAIT_STEPS_S) + 1))
    """For each limit those up to it and above the one before; the last are above all."""
    sum_s: float = 0.0

    def add(self, span_s: float) -> None:
        self.counts[bisect_left(WAIT_STEPS_S, span_s)] += 1
        self.sum_s += span_s

    def copy(self) -> LogWaits:
        return LogWaits(list(self.counts), self.sum_s)


@dataclass(frozen=True, slots=True)
class LogStatus:
    """The log's state; :class:`~risala.engine.model.records.upkeep.awaited_log.LogState` tells it
    to people."""

    mode: str
    """``before_answer``, or ``async`` by an operator's order."""
    awaited: bool
    """The store knows that answers wait: a takeover would rely on it."""
    generation: str | None
    """The present one; None: no whole copy stands, and no answer leaves."""
    number: int
    """Of its last piece."""
    pieces_behind: int
    """Batches that are written here, and that the store has not confirmed."""
    behind_s: float
    """Since the store had everything that was written."""
    late: int
    """How often in a row it did not answer in time."""
    refuses: bool
    """New work is refused at once."""
    failing: str | None
    """Why the store did not take the last piece; None: it did."""
    room_bytes: int
    """What the whole copy and its pieces take, as they were sent."""
    waits: LogWaits
