"""Attempts as they are written down: what leaves, what came of it, and what was heard later."""

from __future__ import annotations

from dataclasses import dataclass

from risala.engine.model.records.messages import DueRow, Stamp
from risala.engine.rules.retry import Decision
from risala.sms.receipt import Receipt


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a carrier at one segment."""

    message_id: str
    segment: int
    """Its number within the message, from 1; :data:`~risala.sms.message.WHOLE` where all of it goes
    by one submit."""
    number: int
    """Of the attempt at the message, from 1."""
    carrier: str


@dataclass(frozen=True, slots=True)
class Lease:
    """A segment that a lane is about to submit."""

    message_id: str
    segment: int
    carrier: str
    opens: bool
    """It is the first of its attempt; else the attempt goes on with a further segment."""
    from_line: str | None = None
    """The line's own number (empty: unknown) where that is the sender, whatever was asked for."""
    row: DueRow | None = None
    """As the queue had it: where that still holds, it need not be read again."""


@dataclass(frozen=True, slots=True)
class SubmitAnswer:
    """What a submit came to, and what follows from it."""

    attempt: Attempt
    decision: Decision
    stamp: Stamp
    live: bool = True
    """False for an answer that came after its submit was given up: nobody is there to go on with
    the next segment, so the message is queued again for it."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A receipt as it came."""

    carrier: str
    receipt: Receipt
    stamp: Stamp
