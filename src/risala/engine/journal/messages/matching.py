"""Whose a receipt is: the one message that it fits.

By the carrier's id, within the carrier's receipt group, and to the right recipient; or, where the
answer with the id never came, by the submit's own reference or by the recipient alone. What fits
two messages fits none: it is better to know nothing than to tell a lie.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from risala.engine.journal.attempts import Attempt
from risala.engine.journal.store.sql import places
from risala.engine.model.states import SegmentState
from risala.sms.message import submit_reference
from risala.sms.receipt import Receipt

LOCAL_DIGITS: Final = 8
"""Of a number: networks write recipients with and without the country code."""
CANDIDATES_MAX: Final = 100
"""Segments of one id that are looked at, the latest: a carrier may give the same one to all."""
LATE_MS: Final = 4 * 86_400_000
"""So long after a submit without an answer its receipt is looked for: carriers try for three days
at most (``validitySeconds``), and a day is for their clocks and ours."""
_WAITING: Final = (SegmentState.ACCEPTED, SegmentState.UNCERTAIN)


class Why(StrEnum):
    """Why a receipt has no message."""

    UNKNOWN = "unknown"
    """No message has its id."""
    RECIPIENT = "recipient"
    """Its id is that of a message to another number."""
    SEVERAL = "several"
    """It fits several messages."""


@dataclass(frozen=True, slots=True)
class Found:
    """The segment that a receipt tells of."""

    message_id: str
    number: int
    state: str
    attempt: int
    carrier: str
    carrier_id: str | None
    recipient: str

    @property
    def try_of_it(self) -> Attempt:
        """The attempt at it that its carrier has, or had."""
        return Attempt(self.message_id, self.number, self.attempt, self.carrier)


_SEGMENTS: Final = (
    "SELECT s.message_id, s.number, s.state, s.attempt, s.carrier, s.carrier_id, m.recipient"
    " FROM segments s JOIN messages m ON m.id = s.message_id"
)


def carrier_key(carrier_id: str) -> str:
    """One form of a carrier's id whatever its case and leading zeros."""
    return carrier_id.strip().casefold().lstrip("0") or "0"


def is_for(recipient: str, *told: str | None, or_untold: bool = True) -> bool:
    """Whether a receipt that names these numbers may tell of a message to ``recipient``.

    Some carriers write sender and recipient the wrong way round, so either may be the one. Where
    none is a whole number (a name, a short one, a masked one) the receipt does not say.
    """
    wholes = [digits for number in told if (digits := _local(number))]
    return _local(recipient) in wholes if wholes else or_untold


def _local(number: str | None) -> str | None:
    digits = (number or "").removeprefix("+")
    whole = len(digits) >= LOCAL_DIGITS and digits.isascii() and digits.isdigit()
    return digits[-LOCAL_DIGITS:] if whole else None


def find(
    conn: sqlite3.Connection, carriers: Sequence[str], receipt: Receipt, now_ms: int
) -> Found | Why:
    """The segment that a receipt tells of, among those of these carriers."""
    found = _by_id(conn, carriers, receipt)
    if isinstance(found, Found) or found is Why.SEVERAL:
        return found
    unanswered = _without_answer(conn, carriers, receipt, now_ms)
    return found if unanswered is Why.UNKNOWN else unanswered


def _by_id(conn: sqlite3.Connection, carriers: Sequence[str], receipt: Receipt) -> Found | Why:
    """By the id as it stands there first, then by its other forms."""
    why = Why.UNKNOWN
    for carrier_id in (receipt.carrier_id, *receipt.also_known_as):
        known = with_id(conn, carriers, carrier_id)
        fitting = [one for one in known if is_for(one.recipient, receipt.recipient, receipt.sender)]
        if fitting:
            exact = [one for one in fitting if one.carrier_id == carrier_id]
            return _the_one(exact or fitting, receipt)
        if known:
            why = Why.RECIPIENT
    return why


def with_id(conn: sqlite3.Connection, carriers: Sequence[str], carrier_id: str) -> list[Found]:
    """The segments that these carriers know by this id, in whatever form; the latest first."""
    rows = conn.execute(
        f"{_SEGMENTS} WHERE s.carrier IN ({places(carriers)}) AND s.carrier_key = ?"
        " ORDER BY s.updated_at DESC LIMIT ?",
        (*carriers, carrier_key(carrier_id), CANDIDATES_MAX),
    )
    return [Found(*row) for row in rows]


def _the_one(fitting: list[Found], receipt: Receipt) -> Found | Why:
    """Of those that still wait for their receipt if there are any: ids are given again."""
    waiting = [one for one in fitting if one.state in _WAITING]
    left = _of_reference(waiting or fitting, receipt)
    if len({one.message_id for one in left}) > 1:
        return Why.SEVERAL
    # Some carriers give all parts of a message one id: the receipts come one for each.
    return min(left, key=lambda one: (one.state != SegmentState.ACCEPTED, one.number))


def _of_reference(some: list[Found], receipt: Receipt) -> list[Found]:
    """Those whose submit had the receipt's reference, where that tells them apart."""
    if receipt.reference is None:
        return some
    named = [one for one in some if _reference(one) == receipt.reference]
    return named or some


def _reference(one: Found) -> int:
    return submit_reference(one.message_id, one.number, one.attempt)


def _without_answer(
    conn: sqlite3.Connection, carriers: Sequence[str], receipt: Receipt, now_ms: int
) -> Found | Why:
    """The uncertain segment that a receipt tells of, though nobody knows its id.

    Also of a message that its carrier's policy has ended: that it was delivered all the same is
    told in its timeline.
    """
    local = _local(receipt.recipient)
    if local is None or not (receipt.recipient_tells or receipt.reference is not None):
        return Why.UNKNOWN
    rows = conn.execute(
        f"{_SEGMENTS} WHERE s.state = 'uncertain' AND s.carrier IN ({places(carriers)})"
        " AND s.updated_at > ? AND m.status IN ('processing', 'failed')"
        " AND substr(m.recipient, ?) = ? LIMIT ?",
        (*carriers, now_ms - LATE_MS, -LOCAL_DIGITS, local, CANDIDATES_MAX),
    )
    if receipt.recipient_tells:
        found = _alone(Found(*row) for row in rows if row[5] is None)
        # The answer of another submit to it is still to come, and may bring this very id.
        in_flight = isinstance(found, Found) and _is_submitting(conn, carriers, local)
        return Why.UNKNOWN if in_flight else found
    named = (Found(*row) for row in rows)
    return _alone(one for one in named if _reference(one) == receipt.reference)


def _is_submitting(conn: sqlite3.Connection, carriers: Sequence[str], local: str) -> bool:
    """Whether a segment to this number is in the carriers' hands at this moment."""
    row = conn.execute(
        "SELECT 1 FROM messages m JOIN segments s ON s.message_id = m.id"  # noqa: S608 -- constants
        " WHERE m.status = 'processing' AND s.state = 'submitting'"
        f" AND s.carrier IN ({places(carriers)}) AND substr(m.recipient, ?) = ? LIMIT 1",
        (*carriers, -LOCAL_DIGITS, local),
    ).fetchone()
    return row is not None


def _alone(some: Iterable[Found]) -> Found | Why:
    found = list(some)
    if len(found) == 1:
        return found[0]
    return Why.SEVERAL if found else Why.UNKNOWN
