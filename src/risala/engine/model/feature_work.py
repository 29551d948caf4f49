"""What features are given, and return, where all are asked: by retention, and by a restore."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from risala.dataclass import dataclass
from risala.engine.model.states import Mode


class WalkKind(StrEnum):
    """What a walk of retention forgets."""

    TEXTS = "texts"
    TIMELINES = "timelines"
    EVENTS = "events"
    CHOSEN_EVENTS = "chosen_events"
    """For organizations that keep theirs for a shorter time."""
    INBOUND = "inbound"
    BANK_TEXTS = "bank_texts"
    MAILINGS = "mailings"
    CLEARED = "cleared"
    """Rows of mailings that are old, and of mailings and lists that were deleted."""


@dataclass(frozen=True, slots=True)
class RetentionWalk:
    """A way through rows, the oldest first, a few at a time."""

    kind: WalkKind
    age_ms: int
    """The least age of a row that it erases."""
    name: str = ""
    """The name under which the file stores its place; empty: the caller keeps it."""
    organizations: tuple[str, ...] = ()
    """The owners of the rows; empty: all."""


@dataclass(frozen=True, slots=True)
class Forgot:
    """The work of one unit."""

    rows: int
    """Messages, events or inbound messages from which it erased something."""
    after: str
    """The place where the next unit continues, if that is not stored in the file."""
    done: bool
    """No other row is old enough."""


# -- restores


class FormerDatabase(Protocol):
    """The database that a restore replaces, as far as it can be read."""

    def keys_with_messages(
        self, organization_id: str, mode: Mode, first: str, end: str
    ) -> list[str] | None:
        """Idempotency keys, from one to before another, of an organization's messages in it; None:
        it cannot be read."""


@dataclass(frozen=True, slots=True)
class RestoredMailings:
    """What became of mailings in a restored database."""

    paused: int = 0
    """Mailings that were being sent when the backup was made."""
    rows_left_out: int = 0
    """Rows that were sent since, as the database that was there shows."""
    unknown: int = 0
    """Mailings of which nobody knows what they sent since."""
