"""Finds the one message that a receipt fits.

By the carrier's id, within the carrier's receipt group, and with the right recipient. If the answer
with the id never came or had a useless one (none, or the same for several), by the recipient and
the submit's own reference, or by the recipient alone. A receipt that fits two messages is not used:
no result is better than a wrong one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.messages.parts import carrier_key, state_word
from risala.engine.journal.state import CREATED, MessageState
from risala.engine.journal.store import names
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.sql import Row, markers, rows_of_values
from risala.engine.model.numbers import FORGOTTEN, recipient_number, recipient_text
from risala.engine.model.records.attempts import Attempt
from risala.engine.model.states import SegmentState
from risala.sms.message import names_submit, submit_reference
from risala.sms.receipt import Receipt

LOCAL_DIGITS: Final = 8
"""Last digits of a number: networks write recipients with and without the country code."""
CANDIDATES_MAX: Final = 100
"""Segments with one id that are checked, the latest: a carrier may give all the same one."""
LATE_MS: Final = 4 * 86_400_000
"""How long after a submit without an answer its receipt is awaited: carriers try for three days at
most (``validitySeconds``), and a day is added for differences of clocks."""
EARLY_MS: Final = 60_000
"""How long before its answer a receipt may come at most."""
_WAITING: Final = (SegmentState.ACCEPTED, SegmentState.UNCERTAIN)


class Why(StrEnum):
    """Why a receipt has no message."""

    UNKNOWN = "unknown"
    """No message has its id."""
    RECIPIENT = "recipient"
    """The receipt's id belongs to a message to another number."""
    SEVERAL = "several"
    """The receipt fits several messages."""


@dataclass(frozen=True, slots=True)
class Found:
    """The segment of a receipt."""

    key: int
    """The message's key."""
    message_id: str
    number: int
    state: SegmentState
    attempt: int
    carrier: str
    carrier_id: str | None
    recipient: str
    changed_at: int

    @property
    def try_of_it(self) -> Attempt:
        """The attempt of the receipt."""
        return Attempt(self.message_id, self.number, self.attempt, self.carrier)


_CHANGED_AT: Final = f"coalesce(uncertain_at, updated_at, delivered_at, sent_at, {CREATED})"
# For a message with a single part, that part's state is in its own row.
_SINGLE: Final = Rows(
    Found,
    {
        "message_id": "id",
        "number": "1",
        "state": "part_state",
        "attempt": "attempts",
        "carrier": name_sql("carrier"),
        "carrier_id": "coalesce(carrier_id, carrier_key)",
        "changed_at": _CHANGED_AT,
    },
    state=state_word,
    recipient=recipient_text,
)
_OF_SEVERAL: Final = Rows(
    Found,
    {
        "key": "s.message",
        "message_id": "m.id",
        "number": "s.number",
        "state": "s.state",
        "attempt": "s.attempt",
        "carrier": name_sql("s.carrier"),
        "carrier_id": "coalesce(s.carrier_id, s.carrier_key)",
        "recipient": "m.recipient",
        "changed_at": "s.updated_at",
    },
    state=state_word,
    recipient=recipient_text,
)
_FROM_SEVERAL: Final = "FROM segment s JOIN message m ON m.key = s.message"


def _numbers(conn: sqlite3.Connection, carriers: Sequence[str]) -> list[int]:
    """The carriers as numbers; those in no row are left out."""
    return [no for name in carriers if (no := names.known(conn, name)) is not None]


def is_for(recipient: str, *numbers: str | None, or_untold: bool = True) -> bool:
    """Whether a receipt with these numbers may be about a message to ``recipient``.

    Some carriers swap sender and recipient, so either may match. If neither is a whole number (a
    name, a short one, a masked one), the receipt does not exclude it.
    """
    local = _local(recipient)
    if local is not None and recipient in numbers:  # the usual form
        return True
    wholes = [digits for number in numbers if (digits := _local(number))]
    return local in wholes if wholes else or_untold


def _local(number: str | None) -> str | None:
    digits = (number or "").removeprefix("+")
    whole = len(digits) >= LOCAL_DIGITS and digits.isascii() and digits.isdigit()
    return digits[-LOCAL_DIGITS:] if whole else None


def find(
    conn: sqlite3.Connection, carriers: Sequence[str], receipt: Receipt, now_ms: int
) -> Found | Why:
    """The segment of a receipt, among those of these carriers."""
    match = _by_id(conn, carriers, receipt)
    if isinstance(match, Found) or match is Why.SEVERAL:
        return match
    unanswered = _without_answer(conn, carriers, receipt, now_ms)
    return match if unanswered is Why.UNKNOWN else unanswered


def is_waited_for(
    conn: sqlite3.Connection, carriers: Sequence[str], receipt: Receipt, received_at: int
) -> bool:
    """Whether a receipt of that time is about a segment that still waits for one.

    Never for a segment that left later: a carrier may give the same id again.
    """
    match = find(conn, carriers, receipt, received_at)
    if not isinstance(match, Found) or match.state not in _WAITING:
        return False
    return match.changed_at <= received_at + EARLY_MS


def _by_id(conn: sqlite3.Connection, carriers: Sequence[str], receipt: Receipt) -> Found | Why:
    """First by the id as it is written, then by its other forms."""
    why = Why.UNKNOWN
    for carrier_id in (receipt.carrier_id, *receipt.also_known_as):
        known = with_id(conn, carriers, carrier_id)
        fitting = [one for one in known if is_for(one.recipient, receipt.recipient, receipt.sender)]
        # Of a number that was erased since, the id alone is left.
        fitting = fitting or [one for one in known if one.recipient == FORGOTTEN]
        if fitting:
            exact = [one for one in fitting if one.carrier_id == carrier_id]
            return _the_one(exact or fitting, receipt)
        if known:
            why = Why.RECIPIENT
    return why


def with_id(conn: sqlite3.Connection, carriers: Sequence[str], carrier_id: str) -> list[Found]:
    """The segments with this id at these carriers, in any form; the latest first."""
    numbers = _numbers(conn, carriers)
    if not numbers:
        return []
    values = (carrier_key(carrier_id), *numbers, CANDIDATES_MAX)
    single = conn.execute(
        f"SELECT {_SINGLE.columns} FROM message"  # noqa: S608 -- constants
        f" WHERE message.carrier_key = ? AND message.carrier IN ({markers(numbers)})"
        " ORDER BY +key DESC LIMIT ?",
        values,
    )
    matches = [_SINGLE.of(row) for row in single]
    of_several = conn.execute(
        f"SELECT {_OF_SEVERAL.columns} {_FROM_SEVERAL}"
        f" WHERE s.carrier_key = ? AND s.carrier IN ({markers(numbers)})"
        " ORDER BY s.updated_at DESC LIMIT ?",
        values,
    )
    matches += [_OF_SEVERAL.of(row) for row in of_several]
    return sorted(matches, key=_changed_at, reverse=True)[:CANDIDATES_MAX]


_SHARED: Final = (
    "SELECT column2 FROM ({values}) WHERE EXISTS (SELECT 1 FROM message"
    " WHERE carrier_key = column1 AND carrier IN ({carriers}) AND key <> column2)"
    " OR EXISTS (SELECT 1 FROM segment"
    " WHERE carrier_key = column1 AND carrier IN ({carriers}))"
)


def known_once(
    conn: sqlite3.Connection, carriers: Sequence[str], messages: Sequence[MessageState]
) -> list[MessageState]:
    """The messages, of a single part each, whose id at the carrier is unique among these carriers'
    segments."""
    numbers = _numbers(conn, carriers)
    if not numbers:
        return []
    values = [(message.carrier_key, message.key) for message in messages]
    statement = _SHARED.replace("{carriers}", ", ".join(map(str, numbers)))
    shared = {key for (key,) in rows_of_values(conn, statement, 2, values)}
    return [message for message in messages if message.key not in shared]


def _changed_at(one: Found) -> int:
    return one.changed_at


def _the_one(fitting: list[Found], receipt: Receipt) -> Found | Why:
    """Prefer segments that still wait for their receipt: ids are used again."""
    waiting = [one for one in fitting if one.state in _WAITING]
    left = _of_reference(waiting or fitting, receipt)
    if len({one.message_id for one in left}) > 1:
        return Why.SEVERAL
    # Some carriers give all parts of a message one id: there is one receipt for each part.
    return min(left, key=lambda one: (one.state != SegmentState.ACCEPTED, one.number))


def _of_reference(some: list[Found], receipt: Receipt) -> list[Found]:
    """Segments whose submit had the receipt's reference, if that distinguishes them."""
    return [one for one in some if _is_named(one, receipt.reference)] or some


def _is_named(one: Found, reference: int | None) -> bool:
    """Whether a receipt's reference is that of a segment's last submit."""
    if reference is None:
        return False
    return names_submit(reference, submit_reference(one.message_id, one.number, one.attempt))


def _without_answer(
    conn: sqlite3.Connection, carriers: Sequence[str], receipt: Receipt, now_ms: int
) -> Found | Why:
    """The segment of a receipt, if no answer gave a unique id: uncertain, or accepted with an id
    that several have.

    Also in a message that its carrier's policy has ended: its timeline then gets the delivery.
    """
    local = _local(receipt.recipient)
    if local is None or not (receipt.recipient_tells or receipt.reference is not None):
        return Why.UNKNOWN
    uncertain = _uncertain(conn, carriers, local, now_ms - LATE_MS)
    if receipt.recipient_tells:
        match = _alone(one for one in uncertain if one.carrier_id is None)
        # The answer of another submit to it is outstanding, and may bring this very id.
        is_unclear = isinstance(match, Found) and bool(_in_flight(conn, carriers, local))
        return Why.UNKNOWN if is_unclear else match
    named = named_by(conn, carriers, receipt.recipient, receipt.reference, now_ms - LATE_MS)
    # The answer of one that is being submitted may bring this very id, or another.
    in_flight = any(one.state is SegmentState.SUBMITTING for one in named)
    return Why.UNKNOWN if in_flight else _alone(named)


def named_by(
    conn: sqlite3.Connection,
    carriers: Sequence[str],
    recipient: str | None,
    reference: int | None,
    since_ms: int,
) -> list[Found]:
    """The segments to a number that wait for a receipt, or are being submitted, and may have this
    reference: two may share one octet of it. Those with a unique id are found by that."""
    local = _local(recipient)
    if local is None or recipient is None or reference is None:
        return []
    waiting = (
        *_uncertain(conn, carriers, local, since_ms),
        *_accepted(conn, carriers, recipient, since_ms),
        *_in_flight(conn, carriers, local),
    )
    named = [one for one in waiting if _is_named(one, reference)]
    return [one for one in named if _has_no_own_id(conn, carriers, one)]


def _accepted(
    conn: sqlite3.Connection, carriers: Sequence[str], recipient: str, since_ms: int
) -> list[Found]:
    """The segments to a number that wait for their receipt; the latest first.

    Only for a number with its country code, which has an index: unlike those without an answer they
    may be many.
    """
    numbers = _numbers(conn, carriers)
    if not numbers:
        return []
    kept = recipient_number(f"+{recipient.removeprefix('+')}")
    values = (kept, since_ms, *numbers, CANDIDATES_MAX)
    single = conn.execute(
        f"SELECT {_SINGLE.columns} FROM message"  # noqa: S608 -- constants
        f" WHERE message.recipient = ? AND {_CHANGED_AT} > ? AND part_state = 3"
        f" AND +status IN (1, 2) AND +message.carrier IN ({markers(numbers)})"
        " ORDER BY +key DESC LIMIT ?",
        values,
    )
    matches = [_SINGLE.of(row) for row in single]
    of_several = conn.execute(
        f"SELECT {_OF_SEVERAL.columns} FROM message m"  # noqa: S608 -- constants
        " CROSS JOIN segment s ON s.message = m.key"
        " WHERE m.recipient = ? AND s.updated_at > ? AND s.state = 3 AND +m.status IN (1, 2)"
        f" AND +s.carrier IN ({markers(numbers)}) ORDER BY +m.key DESC LIMIT ?",
        values,
    )
    return matches + [_OF_SEVERAL.of(row) for row in of_several]


def _has_no_own_id(conn: sqlite3.Connection, carriers: Sequence[str], one: Found) -> bool:
    """Whether the carrier's id does not identify a segment: its carrier gave none, or gave it to
    others too."""
    if one.state == SegmentState.UNCERTAIN or not one.carrier_id:
        return True
    others = with_id(conn, carriers, one.carrier_id)
    return any(other.message_id != one.message_id for other in others)


def _uncertain(
    conn: sqlite3.Connection, carriers: Sequence[str], local: str, since_ms: int
) -> list[Found]:
    """The segments to a number of which it is unknown since then whether they were accepted."""
    numbers = _numbers(conn, carriers)
    if not numbers:
        return []
    single = (
        f"part_state = 2 AND message.carrier IN ({markers(numbers)}) AND uncertain_at > ?"
        " AND status IN (1, 5) AND substr(message.recipient, ?) = ?"
    )
    of_several = (
        f"s.state = 2 AND s.carrier IN ({markers(numbers)}) AND s.updated_at > ?"
        " AND m.status IN (1, 5) AND substr(m.recipient, ?) = ?"
    )
    return _found(conn, single, of_several, (*numbers, since_ms, -LOCAL_DIGITS, local))


def _in_flight(conn: sqlite3.Connection, carriers: Sequence[str], local: str) -> list[Found]:
    """The segments to a number that are being submitted by the carriers now."""
    numbers = _numbers(conn, carriers)
    single = (
        f"status = 1 AND message.carrier IN ({markers(numbers)}) AND part_state = 1"
        " AND substr(message.recipient, ?) = ?"
    )
    of_several = (
        f"m.status = 1 AND m.carrier IN ({markers(numbers)}) AND s.state = 1"
        " AND substr(m.recipient, ?) = ?"
    )
    return _found(conn, single, of_several, (*numbers, -LOCAL_DIGITS, local))


def _found(conn: sqlite3.Connection, single: str, of_several: str, values: Row) -> list[Found]:
    """At most so many candidates by each of two conditions, which take the same values."""
    limited = (*values, CANDIDATES_MAX)
    one = f"SELECT {_SINGLE.columns} FROM message WHERE {single} LIMIT ?"  # noqa: S608 -- constants
    several = f"SELECT {_OF_SEVERAL.columns} {_FROM_SEVERAL} WHERE {of_several} LIMIT ?"
    matches = [_SINGLE.of(row) for row in conn.execute(one, limited)]
    return matches + [_OF_SEVERAL.of(row) for row in conn.execute(several, limited)]


def _alone(some: Iterable[Found]) -> Found | Why:
    matches = list(some)
    if len(matches) == 1:
        return matches[0]
    return Why.SEVERAL if matches else Why.UNKNOWN
