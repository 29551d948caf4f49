"""Lines of a message's timeline as they are stored: a kind, perhaps a cause, and a few values.

Sentences are written when shown, by :mod:`risala.engine.model.sentences`, in the reader's language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Final, Protocol

from risala.dataclass import dataclass
from risala.sms.cause import Cause, cause_of

Values = Mapping[str, str | int]


class Kind(IntEnum):
    """The meaning of a line. The numbers are in the database: none ever gets a new meaning."""

    UNKNOWN = 0
    """A newer version wrote a kind that this one does not know; the line has nothing else."""
    ACCEPTED = 1
    """The message was accepted. Values: those of :class:`Wait`, if it waits for more than its turn;
    ``policies``, those that rewrote it; ``face`` and ``credential``, the id, if it came by another
    face than the API."""
    ATTEMPT = 2
    """A carrier is tried. Values: ``line``, the modem line's own number (empty: unknown), if that
    is always the sender; ``usual``, the recipient's usual carrier, if another one takes over."""
    SENT = 3
    """The carrier has all of it. Values: ``no_receipts`` 1 if the line gives no receipts; ``no_id``
    1 if the carrier gave no id."""
    DELIVERED = 4
    UNDELIVERED = 5
    """The carrier accepted it and did not deliver it; the cause is the reason."""
    FAILED = 6
    """The message has failed; the cause is the reason. Values: ``refunded`` in minor units;
    ``last``, the last of several causes; ``refusals``, how many there were; ``note``."""
    CANCELED = 7
    """The message was withdrawn. Values: ``refunded`` in minor units; ``session``, how the session
    of the code ended."""
    UNCERTAIN = 8
    """The message may have reached the carrier; the cause is the reason why that is unknown.
    Values: ``note``; ``until``, when it is decided without word from the carrier (UTC epoch
    milliseconds), and ``then``, how: ``resend`` or ``fail``; or ``repeat``, the same attempt is
    submitted again, or ``ask``, the carrier is asked."""
    HELD_BACK = 9
    """The message was throttled or not sent, and keeps its place; the cause says why. Values:
    ``note``."""
    REFUSED_FOR_NOW = 10
    """The message was refused temporarily; the cause is the reason. Values: ``wait_ms`` until the
    next attempt; ``note``."""
    REROUTED = 11
    """The message was refused, and another carrier is tried; the cause is the reason. Values:
    ``note``."""
    RESENT = 12
    """No answer came, and it is sent again. Values: ``alone`` 1 if no other message is submitted
    beside it from now on, because the link was lost during its submits."""
    PARTS_WAIT = 13
    """Sending stopped between two parts; the cause is the reason, and is missing if the operator
    paused the carrier."""
    PARTS_FOLLOW = 14
    PART_ACCEPTED = 15
    """The carrier accepted one part. Values: ``parts``, how many there are."""
    TAKEN_BY_RECEIPT = 16
    """No answer came, but a receipt did, which shows that the carrier accepted it."""
    RECEIPT = 17
    """A receipt for one of several parts, or one before the answer. The cause is the reason if that
    part was not delivered. Values: ``parts``, how many there are; ``early`` 1 before the answer."""
    STILL_TRYING = 18
    """A receipt that is not final. Values: ``late`` 1 if it came after the final one."""
    RECEIPT_AGAIN = 19
    """A receipt that brings nothing new."""
    RECEIPT_LATE = 20
    """A receipt came after the message had ended without it. The cause is the reason why it was not
    delivered."""
    RECEIPT_CONTRADICTS = 21
    """A receipt contradicts what had ended the message. The cause is the reason why it was not
    delivered, if the receipt has one. Values: ``failed`` 1 if the message had failed because it was
    unknown whether it had been sent."""
    ANSWER_LATE = 22
    """An answer came after the message had ended or gone on. The cause is the carrier's reason for
    a refusal; without one it accepted. Values: ``note``."""
    RESTORED_SENDS = 23
    """The message was restored from a backup, and is sent now."""
    RESTORED_UNCERTAIN = 24
    """The message was restored from a backup that was made while it was being sent to a carrier."""
    WAITS = 25
    """What the message waits for. Values: those of :class:`Wait`. Stored if it began to wait for a
    carrier; otherwise computed when the timeline is read."""
    SERVED = 26
    """A carrier serves the recipient's number again."""
    RESTORED_WAITS = 27
    """The message was restored from a backup, and is sent at its scheduled time: the old database
    shows that it had not left, or the operator confirmed it."""
    CODE_ENTERED = 28
    """The code that the message carries was entered, which proves that it arrived."""
    RESTORED_HELD = 29
    """The message was restored from a backup, and is held until the operator decides: it is unknown
    whether it was canceled since."""
    RESTORED_GOES_ON = 30
    """The message was restored from a backup, and goes on: the old database was stopped in order,
    and shows that it had not left."""
    REACHABLE = 31
    """The carrier reports that the recipient's phone can be reached again. Nothing changes."""
    REPEATED = 32
    """No answer came, and the same attempt is submitted again with the same id. Values:
    ``not_taken`` 1 if the carrier says that it does not have it."""


class Wait(StrEnum):
    """What a pending message waits for: the value ``wait``. The names in double backquotes are the
    line's further values."""

    SCHEDULED = "scheduled"
    """The message's scheduled time: ``until``."""
    RETRY = "retry"
    """The message's next attempt: ``until``."""
    UNSERVED = "unserved"
    """A carrier that serves its number: none does now."""
    SUSPENDED = "suspended"
    """The message's organization, which is suspended."""
    LINK_DOWN = "link_down"
    """The link of ``carrier``, which has been down ``since`` then."""
    OPERATOR = "operator"
    """The operator: ``carrier`` has needed manual help ``since`` then."""
    PAUSED = "paused"
    """The operator paused or drains ``carrier``."""
    QUOTA = "quota"
    """``carrier`` has used up its quota; ``until`` if that is known."""
    THROTTLED = "throttled"
    """``carrier`` asked us to slow down, or is at its full pace."""
    UNFETCHED = "unfetched"
    """``carrier`` fetches its messages, and has not fetched this one."""
    FAULTS = "faults"
    """``carrier`` failed too often in a row and is not used ``until`` then."""
    TURN = "turn"
    """Messages that are before it."""
    RESTORED = "restored"
    """The operator's decision on a restored database."""
    STOPPING = "stopping"
    """The next start: the service is stopping, or not running."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without the common fields (when, carrier, attempt, part, the carrier's code)."""

    kind: Kind
    cause: Cause | None = None
    values: Values | None = None

    @property
    def details(self) -> str | None:
        """Cause and values as they are stored; None if there are none, as in most lines."""
        if self.cause is None and not self.values:
            return None
        return _details(self.cause, *(self.values or {}).items())


class DatedLine(Protocol):
    """A line with the common fields: when, carrier, attempt, part, the carrier's code."""

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
ACCEPTED_UNSERVED: Final = Line(Kind.ACCEPTED, values={"wait": Wait.UNSERVED.value})
"""The message was accepted, and no carrier serves its number."""
SENT: Final = Line(Kind.SENT)
SENT_UNREPORTED: Final = Line(Kind.SENT, values={"no_receipts": 1})
"""The message was sent by a modem line that gives no reports."""
SENT_NAMELESS: Final = Line(Kind.SENT, values={"no_id": 1})
"""The message was sent, and the carrier gave no id."""
_json: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@lru_cache(maxsize=256)
def _details(cause: Cause | None, *values: tuple[str, str | int]) -> str:
    """Cached, because many messages that are accepted together wait for the same thing."""
    members: dict[str, str | int] = {} if cause is None else {"cause": cause.value}
    return _json({**members, **dict(values)})


def line_of(kind: int, details: str | None) -> Line:
    """The line from its stored values."""
    try:
        known = Kind(kind)
    except ValueError:  # of a newer version, which needed no migration for it
        return Line(Kind.UNKNOWN)
    if details is None:
        return Line(known)
    members = json.loads(details)
    word = members.pop("cause", None)
    cause = None if word is None else cause_of(word, Cause.REJECTED)
    return Line(known, cause, members or None)


def is_same_wait(before: Line, now: Line) -> bool:
    """Whether two lines have the same wait."""
    one, other = before.values or {}, now.values or {}
    return all(one.get(name) == other.get(name) for name in ("wait", "carrier", "until"))


def undecided(until_ms: int, action: str) -> Values:
    """The values of :attr:`Kind.UNCERTAIN` for when and how it is decided."""
    return {"until": until_ms, "then": action}


def note(text: str) -> Values:
    """The value ``note``: a driver's sentence, if it says more than the cause's."""
    return {"note": text} if text else {}
