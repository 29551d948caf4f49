"""What happened to live messages, by the minute, and why some failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MINUTE_MS: Final = 60_000
HOUR_MINUTES: Final = 60
DAY_MINUTES: Final = 24 * HOUR_MINUTES


@dataclass(frozen=True, slots=True)
class Flow:
    """What happened to live messages within a time."""

    accepted: int = 0
    delivered: int = 0
    undelivered: int = 0
    failed: int = 0
    canceled: int = 0


@dataclass(frozen=True, slots=True)
class FlowAt:
    """The same of the stretch that begins with this minute since 1970-01-01."""

    minute: int
    flow: Flow


@dataclass(frozen=True, slots=True)
class FailureShare:
    """How many live messages did not arrive for one reason."""

    cause: str
    """A word of :class:`risala.sms.cause.Cause`."""
    carrier: str
    """Empty: none was asked."""
    word: str
    """The carrier's own; empty: it said none, or there are too many."""
    messages: int
