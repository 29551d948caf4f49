"""Receipts that match nothing: held until the answer with their id comes, then reported."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.messages import awaiting, matching, repeats
from risala.engine.journal.messages.matching import LATE_MS, Why, is_for, named_by, with_id
from risala.engine.journal.messages.parts import carrier_key
from risala.engine.journal.state import MessageState
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.store.sql import markers, value_of
from risala.engine.journal.store.tables import writable
from risala.engine.model.records.attempts import Arrival, Attempt, SubmitAnswer
from risala.engine.model.states import SegmentState
from risala.sms.cause import Cause, cause_of
from risala.sms.message import octet_reference, submit_reference
from risala.sms.receipt import Receipt, ReceiptState

HELD_MAX: Final = 10_000
"""Receipts that match nothing, kept together: a faulty peer must not fill the disk."""
UNMATCHED_MAX: Final = 1000
"""Kept receipts that matched nothing in the end: enough to see what they have in common."""
UNMATCHED_KEPT_MS: Final = 7 * 86_400_000
"""Receipts that matched nothing contain people's numbers."""
_SPAN: Final = "SELECT (SELECT max(seq) FROM held_receipts) - (SELECT min(seq) FROM held_receipts)"
"""Apart, each is the end of an index; together SQLite would read all."""
_NO_KEY: Final = ""
"""No id has this form."""


@dataclass(frozen=True, slots=True)
class Held:
    """A receipt that waits for its message."""

    carrier: str
    carrier_id: str
    state: str
    raw: str
    error_code: str | None
    recipient: str | None
    sender: str | None


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A receipt that matched nothing while it was held."""

    carrier: str
    carrier_id: str
    state: str
    raw: str
    recipient: str | None
    why: str
    """A value of :class:`Why`."""
    received_at: int


def is_any(conn: sqlite3.Connection) -> bool:
    """Whether any receipt is held."""
    return conn.execute("SELECT 1 FROM held_receipts LIMIT 1").fetchone() is not None


def is_waiting(conn: sqlite3.Connection, carriers: Sequence[str], answer: SubmitAnswer) -> bool:
    """Whether a receipt is held with the id in an answer."""
    if not answer.decision.carrier_id:
        return False
    row = conn.execute(
        "SELECT 1 FROM held_receipts"  # noqa: S608 -- constants
        f" WHERE carrier IN ({markers(carriers)}) AND carrier_key = ? LIMIT 1",
        (*carriers, carrier_key(answer.decision.carrier_id)),
    ).fetchone()
    return row is not None


def segment_state(state: ReceiptState) -> SegmentState:
    if state is ReceiptState.DELIVERED:
        return SegmentState.DELIVERED
    return SegmentState.UNDELIVERED


def hold(conn: sqlite3.Connection, arrival: Arrival, why: Why) -> None:
    """Keep a receipt until the answer with its id comes."""
    carrier, receipt, now_ms = arrival.carrier, arrival.receipt, arrival.stamp.now_ms
    span = value_of(conn, _SPAN) or 0
    if span >= HELD_MAX:
        first = conn.execute(
            "SELECT received_at, carrier, carrier_id FROM held_receipts ORDER BY seq LIMIT 1"
        ).fetchone()
        _give_up(conn, "received_at = ? AND carrier = ? AND carrier_id = ?", first)
    keys = {carrier_key(name) for name in (receipt.carrier_id, *receipt.also_known_as)}
    reference = receipt.reference
    if why is Why.SEVERAL:  # it stays so, even if another message gets this id or reference
        keys, reference = {_NO_KEY}, None
    conn.executemany(
        "INSERT INTO held_receipts (carrier, carrier_id, carrier_key, state, raw, error_code,"
        " received_at, recipient, sender, reference, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(carrier, receipt.carrier_id, key, segment_state(receipt.state), receipt.raw),
                *(receipt.why, now_ms, receipt.recipient, receipt.sender, reference, why),
            )
            for key in sorted(keys)
        ],
    )


def take(
    conn: sqlite3.Connection, carriers: Sequence[str], message: MessageState, carrier_id: str
) -> list[Held]:
    """Receipts that came before the answer which gives a segment of ``message`` this id; they are
    no longer held."""
    if not carrier_id:
        return []
    rows = conn.execute(
        "SELECT carrier, carrier_id, state, raw, error_code, recipient, sender"  # noqa: S608 -- constants
        " FROM held_receipts"
        f" WHERE carrier IN ({markers(carriers)}) AND carrier_key = ? ORDER BY seq",
        (*carriers, carrier_key(carrier_id)),
    )
    fitting = [
        each for each in map(_held, rows) if is_for(message.recipient, each.recipient, each.sender)
    ]
    if not fitting:
        return []
    others = [
        one
        for one in with_id(conn, carriers, carrier_id)
        if one.message_id != message.id and one.state == SegmentState.ACCEPTED
    ]
    taken = []
    for each in fitting:
        if not any(is_for(one.recipient, each.recipient, each.sender) for one in others):
            taken.append(each)
            # Its other forms must not match another message's id later.
            conn.execute(
                "DELETE FROM held_receipts WHERE carrier = ? AND carrier_id = ?"
                " AND recipient IS ? AND sender IS ?",
                (each.carrier, each.carrier_id, each.recipient, each.sender),
            )
    return taken


def _held(row: tuple[str, str, str, str, str | None, str | None, str | None]) -> Held:
    return Held(*row)


_LEFT_AT: Final = (
    "SELECT coalesce(attempt_at,"
    " (SELECT max(at) FROM line WHERE line.message = message.key AND kind = 2), 0)"
    " FROM message WHERE key = ?"
)
"""When a message's last attempt began (``Kind.ATTEMPT``). An earlier receipt belongs to another
submit."""


def named(
    conn: sqlite3.Connection, carriers: Sequence[str], message: MessageState, attempt: Attempt
) -> str | None:
    """The carrier's id of a submit without an answer, from a held receipt that fits it and no other
    submit: two submits to one number may share one octet of the reference."""
    mine, reference = attempt.segment, submit_reference(message.id, attempt.segment, attempt.number)
    rows = conn.execute(
        "SELECT carrier_id, recipient, sender, reference, received_at FROM held_receipts"  # noqa: S608 -- constants
        f" WHERE carrier IN ({markers(carriers)}) AND reference IN (?, ?)"
        f" AND received_at >= ({_LEFT_AT})",
        (*carriers, reference, octet_reference(reference), message.key),
    )
    for carrier_id, recipient, sender, submit, received_at in rows:
        if is_for(message.recipient, recipient, sender, or_untold=False):
            since_ms = received_at - LATE_MS
            named_too = named_by(conn, carriers, message.recipient, submit, since_ms)
            if all((one.message_id, one.number) == (message.id, mine) for one in named_too):
                known_as: str = carrier_id
                return known_as
    return None


# -- receipts that nothing matched ---------------------------------------------------------------


def forget(conn: sqlite3.Connection, before_ms: int, now_ms: int) -> list[Unmatched]:
    """Drop receipts without a match since ``before_ms``: they are counted, and reported."""
    conn.execute(
        "DELETE FROM unmatched_receipts WHERE received_at < ?", (now_ms - UNMATCHED_KEPT_MS,)
    )
    return _give_up(conn, "received_at < ?", (before_ms,))


def _give_up(
    conn: sqlite3.Connection, which: str, values: tuple[int | str, ...]
) -> list[Unmatched]:
    # A receipt is held once for each form of its id.
    rows = conn.execute(
        "SELECT DISTINCT carrier, carrier_id, state, raw, recipient, why, received_at"  # noqa: S608 -- constants
        f" FROM held_receipts WHERE {which} ORDER BY received_at",
        values,
    ).fetchall()
    conn.execute(f"DELETE FROM held_receipts WHERE {which}", values)  # noqa: S608 -- constants
    conn.executemany(
        "INSERT INTO unmatched_receipts (carrier, carrier_id, state, raw, recipient, why,"
        " received_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    conn.executemany(
        "INSERT INTO unmatched_totals (carrier, receipts) VALUES (?, 1)"
        " ON CONFLICT (carrier) DO UPDATE SET receipts = receipts + 1",
        [row[:1] for row in rows],
    )
    conn.execute(
        "DELETE FROM unmatched_receipts WHERE seq <= (SELECT max(seq) FROM unmatched_receipts) - ?",
        (UNMATCHED_MAX,),
    )
    return [Unmatched(*row) for row in rows]


_HELD: Final = (
    "SELECT carrier, received_at, carrier_id, state, raw, error_code, recipient, sender, reference"
    " FROM held_receipts WHERE"
)
_UNUSED: Final = (
    f"{_HELD} carrier = ?1 AND why <> ?2"  # noqa: S608 -- constants
    " UNION SELECT carrier, received_at, carrier_id, state, raw, NULL, recipient, NULL, NULL"
    " FROM unmatched_receipts WHERE carrier = ?1 AND why <> ?2 ORDER BY 2"
)
_ENDING: Final = f"{_HELD} received_at < ? AND reference IS NOT NULL ORDER BY seq"


@dataclass(frozen=True, slots=True)
class Unused:
    """A receipt without a message so far, held or given up."""

    carrier: str
    received_at: int
    receipt: Receipt


def unused(conn: sqlite3.Connection, carrier: str) -> list[Unused]:
    """A carrier's unused receipts, in the order in which they came."""
    return [_unused(*row) for row in conn.execute(_UNUSED, (carrier, Why.SEVERAL))]


def ending(conn: sqlite3.Connection, before_ms: int) -> list[Unused]:
    """Receipts that name a submit, and are held since before ``before_ms``."""
    return [_unused(*row) for row in conn.execute(_ENDING, (before_ms,))]


def _unused(
    carrier: str,
    received_at: int,
    carrier_id: str,
    state: str,
    raw: str,
    word: str | None,
    recipient: str | None,
    sender: str | None,
    reference: int | None,
) -> Unused:
    is_delivered = state == SegmentState.DELIVERED
    receipt = Receipt(
        carrier_id,
        ReceiptState.DELIVERED if is_delivered else ReceiptState.UNDELIVERABLE,
        raw,
        None if is_delivered else cause_of(word, Cause.UNDELIVERABLE),
        recipient=recipient,
        sender=sender,
        reference=reference,
    )
    return Unused(carrier, received_at, receipt)


def use(conn: sqlite3.Connection, carrier: str, receipt: Receipt) -> None:
    """Delete a receipt of :func:`unused` that has been used."""
    state = segment_state(receipt.state)
    used = (carrier, receipt.carrier_id, state, receipt.raw, receipt.recipient)
    where = "carrier = ? AND carrier_id = ? AND state = ? AND raw = ? AND recipient IS ?"
    for name in ("held_receipts", "unmatched_receipts"):
        writable(conn, name).delete_where(where, used)


def unmatched_total(conn: sqlite3.Connection, carrier: str) -> int:
    """The number of a carrier's receipts that ever matched nothing."""
    total = "SELECT receipts FROM unmatched_totals WHERE carrier = ?"
    return int(value_of(conn, total, (carrier,)) or 0)


def waiting(conn: sqlite3.Connection, carrier: str) -> int:
    """The number of a carrier's receipts that are held now."""
    (count,) = conn.execute(
        "SELECT count(*) FROM (SELECT DISTINCT carrier_id, state, received_at FROM held_receipts"
        " WHERE carrier = ?)",
        (carrier,),
    ).fetchone()
    return int(count)


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class ReceiptRepository:
    """Receipts that are held. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- segments without a receipt

    accepted_since = read(awaiting.accepted_since)
    is_awaited = read(awaiting.is_awaited)

    # -- receipts without a message

    unused = read(unused)
    ending = read(ending)
    is_waited_for = read(matching.is_waited_for)
    unmatched_total = read(unmatched_total)
    waiting = read(waiting)
    use = command(use)
    forget = command(forget)

    # -- uncertain segments

    uncertain_due = read(repeats.due)
    postpone = command(repeats.postpone)
