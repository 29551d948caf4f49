"""Mailings that repeat: the answers of their operations, and the asks for faces."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.features.mailings.records import PACE_MAX as PACE_MAX
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import (
    AUDITED,
    UNAUDITED,
    Count,
    JsonName,
    Maximum,
    Moment,
    OneOf,
)
from risala.engine.model.states import Mode
from risala.sms.limits import TEXT_CHARACTERS_MAX

REPEATS_MAX: Final = 50
"""Repeats of an organization (contract §16), those that have ended among them."""
RUNS_KEPT: Final = 100
"""Runs of a repeat that are kept; the oldest go first."""
NAME_MAX: Final = 100
EVERY_MAX: Final = 99
COUNT_MAX: Final = 1000
UPCOMING: Final = 10
"""Runs ahead that its page shows."""
DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class RepeatUnit(StrEnum):
    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"


class RepeatState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    """Runs that come due meanwhile do not take place, also later."""
    ENDED = "ended"


class RepeatReason(StrEnum):
    """Why a repeat is paused, or has ended."""

    HAND = "hand"
    RESTORED = "restored"
    """The service was restored from a backup: what was sent since is not known."""
    UNTIL = "until"
    """Its last day is over."""
    COUNT = "count"
    """It has taken place as often as it was to."""
    LIST_GONE = "list_gone"
    NO_MONEY = "no_money"
    """The money did not suffice for two runs in a row."""
    OWNER_LEFT = "owner_left"
    """Who made it is no member any more, or its key does not work any more."""


class RunOutcome(StrEnum):
    MADE = "made"
    """Its mailing is made, and its rows are being checked."""
    STARTED = "started"
    MISSED = "missed"
    """The service was not there for an hour: the run did not take place."""
    NO_MONEY = "no_money"
    """The mailing before still waited for money."""
    EMPTY = "empty"
    """Nobody on the list could be written to."""
    REFUSED = "refused"
    """See the run's sentence."""


class MomentNote(StrEnum):
    """What is odd about the time of a run ahead."""

    SHORT_MONTH = "short_month"
    """The month has no such day: it is its last one."""
    SKIPPED_HOUR = "skipped_hour"
    """The clocks skip this hour: it is as much later."""
    SECOND_HOUR = "second_hour"
    """The hour comes twice: it is the first."""


@dataclass(frozen=True, slots=True)
class MailingRepeat:
    """A mailing that repeats. Each run is a mailing of its own, with the list as it is then."""

    id: Annotated[str, UNAUDITED, JsonName("repeatId")]
    organization_id: Annotated[str, UNAUDITED]
    mode: Annotated[Mode, AUDITED]
    name: Annotated[str, AUDITED, Maximum(NAME_MAX)]
    state: Annotated[RepeatState, AUDITED, OneOf(RepeatState)]
    reason: Annotated[RepeatReason | None, AUDITED, OneOf(RepeatReason)]
    """Why it is paused, or has ended; null while it is active."""
    list_id: Annotated[str, AUDITED]
    text: Annotated[str, UNAUDITED, Maximum(TEXT_CHARACTERS_MAX)]
    """`{{name}}` stands for what the list's column `name` has for each person."""
    sender: Annotated[str | None, AUDITED, JsonName("from")]
    """Null: the service's own sender."""
    pace: Annotated[int | None, AUDITED, Maximum(PACE_MAX)]
    """Messages a minute; null: as fast as the carriers take them."""
    from_hour: Annotated[int, AUDITED]
    to_hour: Annotated[int, AUDITED]
    """The hours of the day between which its mailings send."""
    unit: Annotated[RepeatUnit, AUDITED, OneOf(RepeatUnit)]
    every: Annotated[int, AUDITED]
    """2 with `weeks`: every other week."""
    days: Annotated[tuple[str, ...], AUDITED]
    """With `weeks`: `mon` to `sun`; none: the day of `startsOn`."""
    month_days: Annotated[tuple[int, ...], AUDITED]
    """With `months`: 1 to 31; none: the day of `startsOn`. A month without that day has its run on
    its last day."""
    time: Annotated[str, AUDITED]
    """The time of day, such as `10:00`, in the organization's time zone. A time that the clocks
    skip is as much later; of one that comes twice, the first counts."""
    starts_on: Annotated[str, AUDITED]
    """The first day, such as `2026-12-01`; weeks and months are counted from there."""
    until: Annotated[str | None, AUDITED]
    """The last day; null: none."""
    count: Annotated[int | None, AUDITED]
    """So many runs; null: without end. Skipped ones do not count."""
    runs: Annotated[Count, UNAUDITED]
    """Runs that took place."""
    next_at: Annotated[Moment | None, UNAUDITED]
    """The next run; null: it is paused, or has ended."""
    created_at: Annotated[Moment, UNAUDITED]
    created_by: Annotated[str, UNAUDITED]


@dataclass(frozen=True, slots=True)
class RepeatRun:
    """A run that was due."""

    due_at: Moment
    outcome: Annotated[RunOutcome, OneOf(RunOutcome)]
    missed: Count
    """How many runs were missed, up to this one; 0 for any other outcome."""
    mailing_id: str | None
    """The mailing that was made; null: none was."""
    why: str | None
    """Why it was refused, as a sentence; null otherwise."""


@dataclass(frozen=True, slots=True)
class UpcomingRun:
    at: Moment
    note: Annotated[MomentNote | None, OneOf(MomentNote)]
    """What is odd about the time; null: nothing."""


@dataclass(frozen=True, slots=True)
class RepeatView:
    """A repeat with its runs."""

    repeat: MailingRepeat
    time_zone: str
    """The organization's, in which its times are."""
    upcoming: tuple[UpcomingRun, ...]
    """At most ten."""
    past: tuple[RepeatRun, ...]
    """The newest first; at most a hundred are kept."""


@dataclass(frozen=True, slots=True)
class MailingRepeats:
    """All repeats of an organization: the next due first, then those that rest."""

    repeats: tuple[MailingRepeat, ...]


CREATE: Final = Ask("repeat.create", MailingRepeat)
LIST: Final = Ask("repeat.list", MailingRepeats)
SHOW: Final = Ask("repeat.show", RepeatView)
SET: Final = Ask("repeat.set", MailingRepeat)
PAUSE: Final = Ask("repeat.pause", MailingRepeat)
GO_ON: Final = Ask("repeat.go_on", MailingRepeat)
END: Final = Ask("repeat.end", MailingRepeat)
DELETE: Final = Ask("repeat.delete", MailingRepeat)
