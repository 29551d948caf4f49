"""What a lane is made of and tells: its jobs, counts, the operator's word, its hooks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from risala.engine.journal.rows import DueRow
from risala.sms.segment import Parts


class Gate(StrEnum):
    """The operator's word on a lane."""

    OPEN = "open"
    PAUSED = "paused"
    DRAINING = "draining"


@dataclass(slots=True)
class Job:
    """A message in a lane's hands: its row, its parts, and which of them is next."""

    row: DueRow
    parts: Parts
    remaining: deque[int]
    """Numbers of the parts still to be accepted."""
    reference: int
    attempt: int = 0
    """0 until the attempt is on disk."""
    partly_accepted: bool = False


@dataclass(frozen=True, slots=True)
class LaneStatistics:
    carrier: str
    driver: str
    state: str
    text: str
    gate: str
    in_flight: int
    window_max: int
    rate_per_s: float
    rate_max_per_s: float
    submitted: int
    accepted: int
    throttled: int
    refused: int
    uncertain: int
    late: int
    """Answers that came after their submit was uncertain."""
    breaker_open: bool
    details: dict[str, str | int | float | None]
    trace: tuple[TraceLine, ...]


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of a link's life."""

    at: str
    """ISO 8601, UTC."""
    text: str


@dataclass(slots=True)
class Counts:
    submitted: int = 0
    accepted: int = 0
    throttled: int = 0
    refused: int = 0
    uncertain: int = 0
    late: int = 0


@dataclass(frozen=True, slots=True)
class LaneHooks:
    """What a lane tells the scheduler and asks of the router; all synchronous."""

    changed: Callable[[], None]
    """A slot is free, or the health is another."""
    release: Callable[[str], None]
    """A message left the lane's hands: the journal speaks for it again."""
    put_back: Callable[[DueRow], None]
    """The same, of a message that is as due as it was."""
    next_route: Callable[[str, tuple[str, ...]], str | None]
    """The route for a message that these carriers refused: number, names."""
