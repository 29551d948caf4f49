"""Attempts as they are stored: what leaves, its result, and later news."""

from __future__ import annotations

from enum import StrEnum

from risala.dataclass import dataclass
from risala.engine.model.lines import SENT, Line
from risala.engine.model.records.messages import Change, DueRow, Stamp
from risala.engine.model.states import SegmentState
from risala.sms.receipt import Receipt


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a carrier at one segment."""

    message_id: str
    segment: int
    """The segment's number within the message, from 1; :data:`~risala.sms.message.WHOLE` if all of
    it goes by one submit."""
    number: int
    """The number of the attempt at the message, from 1."""
    carrier: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A further submit of an attempt whose outcome is unknown: the same attempt, the same id."""

    until_ms: int
    """Afterwards it must not leave, in UTC epoch milliseconds: the carrier may have forgotten the
    id, or the message's validity is over."""
    since: int
    """Since when the outcome is unknown: if there was news meanwhile, it must not leave."""
    is_not_taken: bool
    """The carrier says that it does not have it."""
    opened_at: int
    """When the attempt was first submitted, in UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class UncertainPart:
    """A segment with an unknown outcome, of a message whose wait is over."""

    key: int
    """The message's."""
    message_id: str
    action: str | None
    """What the policy does with it now; None: before that its carrier is asked, or it is submitted
    again."""
    number: int
    carrier: str
    carrier_id: str | None
    sender: str
    kind: str
    valid_until: int
    opened_at: int | None
    """When its attempt was opened; None: that is no longer known."""
    since: int
    """Since when it is uncertain."""
    submits: int
    """How many had an unknown outcome."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A segment that a worker is about to submit."""

    message_id: str
    segment: int
    carrier: str
    opens: bool
    """True if it is the first of its attempt; else the attempt continues with a further segment."""
    from_line: str | None = None
    """The line's own number (empty: unknown) if that is always the sender."""
    row: DueRow | None = None
    """As the queue had it: if that is unchanged, it need not be read again."""
    repeat: Repeat | None = None
    """None: it is the first submit of this segment in its attempt."""


@dataclass(frozen=True, slots=True)
class Started:
    """An attempt that is on disk: the segment may go out."""

    attempt: int
    changes: tuple[Change, ...]


class Step(StrEnum):
    """The message's next step."""

    ADVANCE = "advance"
    """The segment is accepted: go on to the next one, or the message is sent."""
    REQUEUE = "requeue"
    """Back to pending, due at ``due_at``; None: it keeps its old place in the queue."""
    FAIL = "fail"
    """The message has failed: refund it, and notify its organization."""
    AWAIT = "await"
    """The outcome is uncertain: wait for an answer or receipt until ``resolve_at``."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows from an outcome, for the message and its timeline."""

    step: Step
    segment_state: SegmentState
    line: Line
    """The timeline's line about the outcome; with ``FAIL`` the line's cause is the message's
    ``errorCode``."""
    raw: str | None = None
    """The carrier's own code."""
    carrier_id: str | None = None
    due_at: int | None = None
    route: str | None = None
    """The message's new route; None: unchanged."""
    counts_as_refusal: bool = False
    resolve_at: int | None = None
    resolve_action: str | None = None
    """The policy's word; None: before the policy decides, the carrier is asked, or the same attempt
    is submitted again."""
    sent: Line = SENT
    """The timeline's line if this outcome completes the sending."""
    lost_link: bool = False
    """The link was lost during the submit."""
    is_answered: bool = False
    """With ``AWAIT``: this submit had an answer; an earlier one of the same attempt had none."""


@dataclass(frozen=True, slots=True)
class SubmitAnswer:
    """The result of a submit, and what follows from it."""

    attempt: Attempt
    decision: Decision
    stamp: Stamp
    live: bool = True
    """False for an answer after its submit was given up: its worker no longer continues with the
    next segment, so the message is queued again for it."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A receipt as it came."""

    carrier: str
    receipt: Receipt
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Declining:
    """A message that a carrier would not take, and when or where it is tried again."""

    message_id: str
    carrier: str
    reason: str
    due_at: int
    route: str | None
    """The route that the message takes instead; None: it waits for this carrier."""
