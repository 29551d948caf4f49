"""Lines of a message's timeline as they are kept: a kind, perhaps a cause, and a few values.

Sentences are written out at the edge, by :mod:`risala.engine.model.sentences`, in the reader's
language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final, Protocol

from risala.sms.cause import Cause, cause_of

Values = Mapping[str, str | int]


class Kind(IntEnum):
    """What a line tells. The numbers stand in the database: none is ever given a new meaning."""

    WRITTEN = 0
    """An earlier version wrote the sentence itself; there is nothing else."""
    ACCEPTED = 1
    """Values: those of :class:`Wait`, where it waits for more than its turn."""
    ATTEMPT = 2
    """Values: ``line``, the line's own number (empty: unknown) where that is the sender."""
    SENT = 3
    """Values: ``no_receipts`` 1: the line gives none; ``no_id`` 1: the carrier gave no id."""
    DELIVERED = 4
    UNDELIVERED = 5
    """A cause."""
    FAILED = 6
    """A cause. Values: ``refunded`` in minor units; ``last``, the last of several causes;
    ``refusals``; ``note``."""
    CANCELED = 7
    """Values: ``refunded``; ``session``, how the session ended that the code was of."""
    UNCERTAIN = 8
    """A cause. Values: ``note``."""
    HELD_BACK = 9
    """Throttled or unsent: it keeps its place. A cause. Values: ``note``."""
    REFUSED_FOR_NOW = 10
    """A cause. Values: ``wait_ms`` until the next attempt; ``note``."""
    REROUTED = 11
    """Refused, and another carrier is tried. A cause. Values: ``note``."""
    RESENT = 12
    """No answer came, and it is sent again. Values: ``alone`` 1: with no other beside it."""
    PARTS_WAIT = 13
    """Stopped between two parts. A cause, or none where the operator paused the carrier."""
    PARTS_FOLLOW = 14
    PART_ACCEPTED = 15
    """Values: ``parts``, of how many."""
    TAKEN_BY_RECEIPT = 16
    """No answer came, but a receipt that tells that the carrier accepted it."""
    RECEIPT = 17
    """Of one part, or before the answer. A cause where it was not delivered. Values: ``parts``;
    ``early`` 1: it came before the answer."""
    STILL_TRYING = 18
    RECEIPT_AGAIN = 19
    """The same that is known."""
    RECEIPT_LATE = 20
    """After the message had ended otherwise. A cause where it was not delivered."""
    RECEIPT_CONTRADICTS = 21
    """Against a final one. A cause where it says "not delivered". Values: ``failed`` 1: the message
    had failed, because nobody knew whether it had been sent."""
    ANSWER_LATE = 22
    """After the message had ended, or gone on. A cause; none: accepted. Values: ``note``."""
    RESTORED_SENDS = 23
    """Restored from a backup, and sent now."""
    RESTORED_UNCERTAIN = 24
    """Restored from a backup that was made while a carrier had it."""
    WAITS = 25
    """Values: those of :class:`Wait`. Stored where it came to wait; else true when it is read."""
    SERVED = 26
    """A carrier serves its number again."""


class Wait(StrEnum):
    """What a pending message waits for: the value ``wait``, and those that belong to it."""

    SCHEDULED = "scheduled"
    """For its time: ``until``."""
    RETRY = "retry"
    """For its next attempt: ``until``."""
    UNSERVED = "unserved"
    """For a carrier that serves its number: none does."""
    SUSPENDED = "suspended"
    """The organization is suspended."""
    LINK_DOWN = "link_down"
    """``carrier``; ``since``."""
    OPERATOR = "operator"
    """For the operator: ``carrier`` needs somebody's hand; ``since``."""
    PAUSED = "paused"
    """The operator paused or drains ``carrier``."""
    QUOTA = "quota"
    """``carrier`` has used up its quota; ``until`` where that is known."""
    THROTTLED = "throttled"
    """``carrier`` asked us to slow down, or is as fast as it may be."""
    FAULTS = "faults"
    """``carrier`` failed too often and is left alone; ``until``."""
    TURN = "turn"
    """For others before it."""
    STOPPING = "stopping"
    """The service is stopping, or not running: it goes on with the next start."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without what every line has (when, carrier, attempt, part, the carrier's word)."""

    kind: Kind
    cause: Cause | None = None
    values: Values | None = None

    @property
    def details(self) -> str | None:
        """Cause and values as they are stored; None where there is nothing: most lines."""
        if self.cause is None and not self.values:
            return None
        members: dict[str, str | int] = {} if self.cause is None else {"cause": self.cause.value}
        members.update(self.values or {})
        return _json(members)


class Told(Protocol):
    """A line with what belongs to it."""

    @property
    def at(self) -> int: ...
    @property
    def line(self) -> Line: ...
    @property
    def carrier(self) -> str | None: ...
    @property
    def attempt(self) -> int | None: ...
    @property
    def segment(self) -> int | None: ...


JUST_ACCEPTED: Final = Line(Kind.ACCEPTED)
SENT: Final = Line(Kind.SENT)
SENT_UNREPORTED: Final = Line(Kind.SENT, values={"no_receipts": 1})
"""By a line that gives no reports."""
SENT_NAMELESS: Final = Line(Kind.SENT, values={"no_id": 1})
"""The carrier gave no id."""
_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def line_of(kind: int, details: str | None, text: str) -> Line:
    """A stored line. ``text`` is the sentence of a line that an earlier version wrote."""
    try:
        known = Kind(kind)
    except ValueError:  # a newer version's, in a file that was opened by force
        known = Kind.WRITTEN
    if known is Kind.WRITTEN:
        return Line(known, values={"text": text})
    if details is None:
        return Line(known)
    members = json.loads(details)
    word = members.pop("cause", None)
    cause = None if word is None else cause_of(word, Cause.REJECTED)
    return Line(known, cause, members or None)


def is_same_wait(before: Line, now: Line) -> bool:
    """Whether two lines say that it waits for the same thing."""
    one, other = before.values or {}, now.values or {}
    return all(one.get(name) == other.get(name) for name in ("wait", "carrier", "until"))


def note(text: str) -> Values:
    """The value ``note``, where a driver says more than its cause does."""
    return {"note": text} if text else {}
