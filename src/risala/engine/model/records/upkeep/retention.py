"""How long data is kept, as an organization's owner may choose it."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment
from risala.engine.model.records.upkeep.stored import StoredOfKind

DAYS_OFFERED: Final = (1, 7, 30, 90, 180, 365)
"""The days that owners can choose: few, because each number of days is a separate walk over the
events of all organizations."""


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """An owner's choice, in days; None: as the operator has set it."""

    texts: Annotated[int | None, AUDITED] = None
    events: Annotated[int | None, AUDITED] = None
    inbound: Annotated[int | None, AUDITED] = None


@dataclass(frozen=True, slots=True)
class RetentionOfKind:
    """One kind of thing, and for how long an organization keeps it."""

    name: str
    days: int | None
    """That apply; None: for ever."""
    chosen: int | None
    operator_days: int | None
    """None: for ever."""
    offered: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OrganizationRetention:
    """All that an organization keeps."""

    organization_id: str
    kept: tuple[RetentionOfKind, ...]
    stored: tuple[StoredOfKind, ...]
    """What takes how much on the disk, besides messages."""
    stored_bytes_max: int
    """What mailings, lists and uploads may take together."""


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """The operator's rule for one kind of thing."""

    name: str
    days: int | None
    """None: for ever."""
    oldest: Moment | None
    """The oldest row that is left."""
    overdue: bool


@dataclass(frozen=True, slots=True)
class RetentionRules:
    rules: tuple[RetentionRule, ...]


@dataclass(frozen=True, slots=True)
class NextUnit:
    """Where the next unit begins."""

    place: int
    after: str | None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The work of one unit, on request."""

    name: Annotated[str, UNAUDITED]
    rows: Annotated[int, UNAUDITED]
    next: Annotated[NextUnit | None, UNAUDITED]
    """None: all is done."""


def offered(operators_days: int) -> tuple[int, ...]:
    """The days that an owner may choose: fewer than the operator's, which 0 makes endless."""
    return tuple(days for days in DAYS_OFFERED if not operators_days or days < operators_days)


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


RULES: Final = Ask("retention.show", RetentionRules)
RUN: Final = Ask("retention.run", Forgotten)
SHOW: Final = Ask("kept.show", OrganizationRetention)
SET: Final = Ask("kept.set", OrganizationRetention)
