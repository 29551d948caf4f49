"""How long data is kept, as an organization's owner may choose it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

DAYS_OFFERED: Final = (1, 7, 30, 90, 180, 365)
"""The days that owners can choose: few, because each number of days is a separate walk over the
events of all organizations."""


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """An owner's choice, in days; None: as the operator has set it."""

    texts: int | None = None
    events: int | None = None
    inbound: int | None = None


def offered(operators_days: int) -> Sequence[int]:
    """The days that an owner may choose: fewer than the operator's, which 0 makes endless."""
    return [days for days in DAYS_OFFERED if not operators_days or days < operators_days]


def holding(chosen: int | None, operators_days: int) -> int:
    """The days that apply, from an owner's choice and the operator's; 0: for ever.

    An owner may only keep data for a shorter time than the operator does.
    """
    if chosen is None:
        return operators_days
    return min(chosen, operators_days) if operators_days else chosen


EVENTS_LATE_MS: Final = 7 * 86_400_000
"""The age at which no delivery of an event is pending, unless it was replayed: attempts go on for
four days."""


LATE_MS: Final = 40 * 86_400_000
"""The age at which no message can be under way: 30 days ahead, 3 of validity, and a reserve."""


@dataclass(frozen=True, slots=True)
class Forgot:
    """The work of one unit."""

    rows: int
    """Messages, events or inbound messages from which it erased something."""
    after: str
    """Where the next unit continues, if that is not stored in the file."""
    done: bool
    """No other row is old enough."""


EVENTS_WALK: Final = "events.{days}"
EVENTS_LATE_WALK: Final = "events.{days}.late"
"""Names of the walks over the events of owners who chose so many days."""


class WalkKind(StrEnum):
    """What a walk of retention forgets."""

    TEXTS = "texts"
    TIMELINES = "timelines"
    EVENTS = "events"
    CHOSEN_EVENTS = "chosen_events"
    """For organizations that keep theirs for a shorter time."""
    INBOUND = "inbound"
    BANK_TEXTS = "bank_texts"


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
