"""What happened to live messages, by the minute, and why some failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MINUTE_MS: Final = 60_000
HOUR_MINUTES: Final = 60
DAY_MINUTES: Final = 24 * HOUR_MINUTES


@dataclass(frozen=True, slots=True)
class Flow:
    """What happened to live messages within a period."""

    accepted: int = 0
    delivered: int = 0
    undelivered: int = 0
    failed: int = 0
    canceled: int = 0


@dataclass(frozen=True, slots=True)
class FlowAt:
    """The same for the period that begins with this minute since 1970-01-01."""

    minute: int
    flow: Flow


@dataclass(frozen=True, slots=True)
class FailureShare:
    """How many live messages failed to arrive for one reason."""

    cause: str
    """A value of :class:`risala.sms.cause.Cause`."""
    carrier: str
    """Empty: no carrier was asked."""
    word: str
    """The carrier's own code; empty: it gave none, or there are too many."""
    messages: int
