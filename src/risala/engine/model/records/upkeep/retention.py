"""How long things are kept, as an organization's owner may choose it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

DAYS_OFFERED: Final = (1, 7, 30, 90, 180, 365)
"""Days among which owners choose: few, because each number of days is a walk of its own over the
events of all organizations."""


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """What an owner chose, in days; None: as the operator has set it."""

    texts: int | None = None
    events: int | None = None
    inbound: int | None = None


def offered(operators_days: int) -> Sequence[int]:
    """The days that an owner may choose: fewer than the operator's, which 0 makes endless."""
    return [days for days in DAYS_OFFERED if not operators_days or days < operators_days]


def holding(chosen: int | None, operators_days: int) -> int:
    """The days that hold, of an owner's choice and the operator's; 0: for ever.

    An owner may only keep things for a shorter time than the operator does.
    """
    if chosen is None:
        return operators_days
    return min(chosen, operators_days) if operators_days else chosen


EVENTS_LATE_MS: Final = 7 * 86_400_000
"""When no delivery of an event is pending any more, unless it was replayed: attempts go on for
four days."""


LATE_MS: Final = 40 * 86_400_000
"""When no message can be under way any more: 30 days ahead, 3 of validity, and room."""


@dataclass(frozen=True, slots=True)
class Forgot:
    """What one unit did."""

    rows: int
    """Messages, events or inbound messages that it took something from."""
    after: str
    """Where the next unit goes on, where that is not noted in the file."""
    done: bool
    """Nothing that is old enough is left."""


EVENTS_WALK: Final = "events.{days}"
EVENTS_LATE_WALK: Final = "events.{days}.late"
"""Names of the walks over the events of those who chose so many days."""


class WalkKind(StrEnum):
    """What a walk of retention forgets."""

    TEXTS = "texts"
    TIMELINES = "timelines"
    EVENTS = "events"
    CHOSEN_EVENTS = "chosen_events"
    """Of organizations that keep theirs for a shorter time."""
    INBOUND = "inbound"
    BANK_TEXTS = "bank_texts"


@dataclass(frozen=True, slots=True)
class RetentionWalk:
    """A way through rows, the oldest first, a few at a time."""

    kind: WalkKind
    age_ms: int
    """How old a row is that it forgets, at least."""
    name: str = ""
    """Under which the file notes where it is; empty: who calls says it."""
    organizations: tuple[str, ...] = ()
    """Whose rows; none: everybody's."""
