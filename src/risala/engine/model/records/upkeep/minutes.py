"""What happened to live messages, by the minute, and why some failed."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.cause_sentences import cause_text
from risala.engine.model.records.fields import JsonName, Moment

MINUTE_MS: Final = 60_000
HOUR_MINUTES: Final = 60
KEPT_FAILURE_HOURS: Final = 30 * 24
"""How long the causes of failures are counted: what is rare shows only over weeks."""
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
    """What happened to live messages within the period that begins at a time."""

    at: Moment
    accepted: int
    delivered: int
    undelivered: int
    failed: int
    canceled: int


@dataclass(frozen=True, slots=True)
class FailureShare:
    """How many live messages failed to arrive for one reason."""

    cause: str
    """A value of :class:`risala.sms.cause.Cause`."""
    text: str | None = field(init=False)
    """The cause's sentence."""
    carrier: str | None
    """None: no carrier was asked."""
    word: Annotated[str | None, JsonName("carrierCode")]
    """The carrier's own code; None: it gave none, or there are too many."""
    messages: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", cause_text(self.cause))
