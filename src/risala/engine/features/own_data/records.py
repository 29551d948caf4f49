"""How long data is kept, as an organization's owner may choose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.ids import KEY_COUNTER_BITS
from risala.engine.model.numbers import recipient_number
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment
from risala.engine.model.records.people.organizations import StoredOfKind

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
    """The days that apply; None: for ever."""
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
    """The place where the next unit begins."""

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


EVENTS_WALK: Final = "events.{days}"
EVENTS_LATE_WALK: Final = "events.{days}.late"
"""Names of the walks over the events of owners who chose so many days."""


RETENTION_SHOW: Final = Ask("retention.show", RetentionRules)
RETENTION_RUN: Final = Ask("retention.run", Forgotten)
KEPT_SHOW: Final = Ask("kept.show", OrganizationRetention)
KEPT_SET: Final = Ask("kept.set", OrganizationRetention)


class ErasureStep(IntEnum):
    """The steps; their numbers are in rows. Their order is :data:`STEPS`."""

    CODES = 0
    """Pending verification sessions end, and their codes with them."""
    PENDING = 1
    """Messages that have not left are canceled and refunded."""
    EVENTS = 2
    INBOUND = 3
    SESSIONS = 4
    MESSAGES = 5
    CARRIERS = 6
    """Messages at a carrier are waited for, and erased when they have ended."""
    REST = 7
    MAILINGS = 8
    """Rows of mailings and lists; before messages, so that no more of them are made."""


STEPS: Final = (
    *(ErasureStep.CODES, ErasureStep.MAILINGS, ErasureStep.PENDING, ErasureStep.EVENTS),
    *(ErasureStep.INBOUND, ErasureStep.SESSIONS, ErasureStep.MESSAGES, ErasureStep.CARRIERS),
    ErasureStep.REST,
)
"""The steps in their order."""


def following(step: ErasureStep) -> ErasureStep:
    """The step after one that is not the last."""
    return STEPS[STEPS.index(step) + 1]


@dataclass(frozen=True, slots=True)
class Erasure:
    id: str
    organization_id: str
    number: str | None
    """None: all of the organization, or it is done."""
    last4: str | None
    """None: all of the organization."""
    asked_by: str
    step: ErasureStep
    place: str
    """The erasure's place in the step."""
    gone: Mapping[str, int]
    """How much is erased, by kind: messages canceled, events, messages, verifications and so on."""
    created_at: int
    ended_at: int | None

    @property
    def until_key(self) -> int:
        """The last key of a message or an event from before the request."""
        return ((self.created_at + 1) << KEY_COUNTER_BITS) - 1

    @property
    def recipient(self) -> int | str:
        """The number in the form of messages' rows."""
        assert self.number is not None, "it is of no number, or done"
        return recipient_number(self.number)


@dataclass(frozen=True, slots=True)
class Erased:
    """The work of one unit."""

    erasure: Erasure
    waits: bool = False
    """A message is at a carrier, and has to end before the erasure continues."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """What has to be notified of the deletion."""

    id: str
    users: tuple[str, ...]
    endpoints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cancelable:
    key: int
    id: str


class ErasureState(StrEnum):
    UNDER_WAY = "under way"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class ErasureProgress:
    """How far an erasure is."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    number: Annotated[str | None, UNAUDITED]
    """The number's last digits; None: all of the organization."""
    state: Annotated[ErasureState, UNAUDITED]
    step: Annotated[int, UNAUDITED]
    steps: Annotated[int, UNAUDITED]
    """How many steps there are."""
    waits: Annotated[bool, UNAUDITED]
    """Whether it waits for messages that are with a carrier."""
    gone: Annotated[Mapping[str, int], UNAUDITED]
    """How much of what is gone."""
    asked_by: Annotated[str, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    ended_at: Annotated[Moment | None, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Erasures:
    """The latest erasures of an organization, the latest first."""

    erasures: tuple[ErasureProgress, ...]


@dataclass(frozen=True, slots=True)
class WentOn:
    """The result of one unit of work."""

    erasure: ErasureProgress
    waits: bool


@dataclass(frozen=True, slots=True)
class NumberFigures:
    """How much an organization has of a number."""

    number: str
    messages: int
    pending: int
    """The number of those that have not left."""
    inbound: int
    verifications: int
    mailing_rows: int
    lists: int
    """Recipient lists that it is on."""
    opted_out: bool


NUMBER_SHOW: Final = Ask("number.show", NumberFigures)
NUMBER_FORGET: Final = Ask("number.forget", ErasureProgress)
DELETE_ORGANIZATION: Final = Ask("org.delete", ErasureProgress)
ERASURE_LIST: Final = Ask("erasure.list", Erasures)
ERASURE_SHOW: Final = Ask("erasure.show", ErasureProgress)
ERASURE_RUN: Final = Ask("erasure.run", WentOn)


class ExportState(StrEnum):
    WRITING = "writing"
    READY = "ready"
    FAILED = "failed"
    GONE = "gone"
    """The file expired, its owner deleted it, or something in it had to be erased."""


class ExportFault(StrEnum):
    """Why there is no file."""

    NO_ROOM = "no room"
    TOO_LARGE = "too large"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Export:
    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    state: Annotated[ExportState, UNAUDITED]
    reason: Annotated[str | None, UNAUDITED]
    written: Annotated[int, UNAUDITED]
    """Rows."""
    expected: Annotated[int, UNAUDITED]
    """An estimate of the rows."""
    bytes: Annotated[int, UNAUDITED]
    asked_by: Annotated[str, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    ended_at: Annotated[Moment | None, UNAUDITED]
    expires_at: Annotated[Moment | None, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Exports:
    """The latest exports of an organization, the latest first."""

    exports: tuple[Export, ...]


@dataclass(frozen=True, slots=True)
class Fetched:
    """An export, and where its file is, for a face that hands it on."""

    export: Export
    path: str


class ExportedPart(NamedTuple):
    """Some rows for one file of an export."""

    name: str
    """The file's name, without its ending."""
    rows: Sequence[Mapping[str, Any]]


EXPORT_REQUEST: Final = Ask("export.ask", Export)
EXPORT_LIST: Final = Ask("export.list", Exports)
EXPORT_SHOW: Final = Ask("export.show", Export)
EXPORT_FETCH: Final = Ask("export.fetch", Fetched)
EXPORT_DELETE: Final = Ask("export.delete", Export)
