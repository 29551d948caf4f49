"""Walks of retention, which the core and features take through old rows."""

from __future__ import annotations

from enum import StrEnum

from risala.dataclass import dataclass


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
    """Where the next unit continues, if that is not stored in the file."""
    done: bool
    """No other row is old enough."""
