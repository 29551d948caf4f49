"""The parts of a message: a single one in the message's own row, several in separate rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.state import MessageState
from risala.engine.journal.store import names
from risala.engine.journal.store.names import name_sql
from risala.engine.model.numbers import STATES
from risala.engine.model.states import ACKNOWLEDGED, SegmentState
from risala.sms.message import WHOLE

SUBMITTING: Final = STATES.number(SegmentState.SUBMITTING)
UNCERTAIN: Final = STATES.number(SegmentState.UNCERTAIN)
ACCEPTED: Final = STATES.number(SegmentState.ACCEPTED)
_PARTS: Final = (
    f"SELECT number, state, attempt, {name_sql('carrier')}, carrier_key, carrier_id, uncertain,"  # noqa: S608 -- constants
    " updated_at FROM segment WHERE message = ?"
)
_WITH_CARRIER: Final = {SegmentState.UNCERTAIN, SegmentState.ACCEPTED, SegmentState.DELIVERED}


@dataclass(frozen=True, slots=True)
class BegunPart:
    """One segment of a message that was begun."""

    number: int
    state: SegmentState
    attempt: int
    carrier: str
    carrier_id: str | None
    """As the carrier wrote it; empty: it gave none."""
    uncertain: int
    """Submits with an unknown outcome."""
    since: int
    """Since when an uncertain one is uncertain; of no meaning for others."""


def state_word(number: int) -> SegmentState:
    return _WORDS[number]


_WORDS: Final = tuple(SegmentState(word) for word in STATES.words)


def carrier_key(carrier_id: str) -> str:
    """One form of a carrier's id, independent of its case and leading zeros."""
    return carrier_id.strip().casefold().lstrip("0") or "0"


def stored_id(carrier_id: str | None) -> tuple[str | None, str | None]:
    """A carrier's id as rows keep it: its one form, and the original if that differs."""
    if not carrier_id:  # some carriers give an empty one
        return None, carrier_id
    key = carrier_key(carrier_id)
    return key, None if key == carrier_id else carrier_id


def of(conn: sqlite3.Connection, message: MessageState) -> list[BegunPart]:
    """The parts that were begun, in their order."""
    if message.segments == 1:
        row = conn.execute(
            "SELECT part_state, carrier_key, carrier_id, uncertain, coalesce(uncertain_at, 0)"
            " FROM message WHERE key = ?",
            (message.key,),
        ).fetchone()
        state, key, written, uncertain, since = row
        if state is None:
            return []
        name, carrier = key if written is None else written, message.carrier or ""
        return [BegunPart(1, _WORDS[state], message.attempts, carrier, name, uncertain, since)]
    rows = conn.execute(f"{_PARTS} ORDER BY number", (message.key,))
    return [
        BegunPart(
            *(number, _WORDS[state], attempt, carrier, key if written is None else written),
            *(times, since),
        )
        for number, state, attempt, carrier, key, written, times, since in rows
    ]


def states_of(begun: Sequence[BegunPart], segments: int) -> tuple[list[SegmentState], bool]:
    """The states that determine the message's own, and whether they are all: that of the whole if a
    carrier has accepted it whole, else those of the parts."""
    whole = [one.state for one in begun if one.number == WHOLE and one.state in ACKNOWLEDGED]
    if whole:
        return whole, True
    states = [one.state for one in begun if one.number != WHOLE]
    return states, len(states) == segments


def one(conn: sqlite3.Connection, message: MessageState, number: int) -> BegunPart | None:
    return next((part for part in of(conn, message) if part.number == number), None)


def any_acknowledged(conn: sqlite3.Connection, message: MessageState) -> bool:
    """Whether a carrier has accepted some part."""
    return any(part.state in ACKNOWLEDGED for part in of(conn, message))


def submit(
    conn: sqlite3.Connection, message: MessageState, number: int, carrier: str, now_ms: int
) -> None:
    """A part is about to leave, in the message's present attempt."""
    if message.segments == 1:
        conn.execute(
            "UPDATE message SET part_state = 1, carrier_key = NULL, carrier_id = NULL,"
            " uncertain_at = NULL WHERE key = ?",
            (message.key,),
        )
        return
    conn.execute(
        "INSERT INTO segment (message, number, state, attempt, carrier, updated_at)"
        " VALUES (?, ?, 1, ?, ?, ?)"
        " ON CONFLICT (message, number) DO UPDATE SET state = 1,"
        " attempt = excluded.attempt, carrier = excluded.carrier, carrier_id = NULL,"
        " carrier_key = NULL, updated_at = excluded.updated_at",
        (message.key, number, message.attempts, names.number(conn, carrier), now_ms),
    )


def repeat(conn: sqlite3.Connection, message: MessageState, number: int, now_ms: int) -> None:
    """A part is about to leave again, in the same attempt: a receipt for its earlier submit still
    finds it by the carrier's id."""
    if message.segments == 1:
        conn.execute(
            "UPDATE message SET part_state = 1, uncertain_at = NULL WHERE key = ?", (message.key,)
        )
        return
    conn.execute(
        "UPDATE segment SET state = 1, updated_at = ? WHERE message = ? AND number = ?",
        (now_ms, message.key, number),
    )


def answered(
    conn: sqlite3.Connection,
    message: MessageState,
    number: int,
    state: SegmentState,
    carrier_id: str | None,
    now_ms: int,
) -> None:
    """A part reaches a state by its answer, or because there is none."""
    key, written = stored_id(carrier_id)
    kept = STATES.number(state)
    if message.segments == 1:
        since = now_ms if state is SegmentState.UNCERTAIN else None
        conn.execute(
            "UPDATE message SET part_state = ?, carrier_key = ?, carrier_id = ?, uncertain_at = ?"
            " WHERE key = ?",
            (kept, key, written, since, message.key),
        )
        return
    conn.execute(
        "UPDATE segment SET state = ?, carrier_key = ?, carrier_id = ?, updated_at = ?"
        " WHERE message = ? AND number = ?",
        (kept, key, written, now_ms, message.key, number),
    )


def count_uncertain(conn: sqlite3.Connection, message: MessageState, number: int) -> None:
    """Count one more submit with an unknown outcome: this limits how often it is sent again."""
    if message.segments == 1:
        conn.execute("UPDATE message SET uncertain = uncertain + 1 WHERE key = ?", (message.key,))
        return
    conn.execute(
        "UPDATE segment SET uncertain = uncertain + 1 WHERE message = ? AND number = ?",
        (message.key, number),
    )


def receipted(
    conn: sqlite3.Connection, message: MessageState, number: int, state: str, now_ms: int
) -> bool:
    """A final receipt came for an accepted part; False if it is in another state."""
    kept = STATES.number(state)
    if message.segments == 1:
        moved = conn.execute(
            "UPDATE message SET part_state = ? WHERE key = ? AND part_state = 3",
            (kept, message.key),
        )
    else:
        moved = conn.execute(
            "UPDATE segment SET state = ?, updated_at = ?"
            " WHERE message = ? AND number = ? AND state = 3",
            (kept, now_ms, message.key, number),
        )
    return moved.rowcount > 0


def proven(conn: sqlite3.Connection, message: MessageState, now_ms: int) -> bool:
    """The message has arrived, whatever its carrier reports. False, and nothing is written: some
    part waits, is being submitted, or was reported as undelivered."""
    states = [part.state for part in of(conn, message)]
    if len(states) < message.segments or not set(states) <= _WITH_CARRIER:
        return False
    if message.segments == 1:
        conn.execute(
            "UPDATE message SET part_state = 4, uncertain_at = NULL WHERE key = ?", (message.key,)
        )
        return True
    conn.execute(
        "UPDATE segment SET state = 4, updated_at = ? WHERE message = ?", (now_ms, message.key)
    )
    return True


def uncertain_wait(conn: sqlite3.Connection, message: MessageState, now_ms: int) -> None:
    """The uncertain parts must be sent again."""
    if message.segments == 1:
        conn.execute(
            "UPDATE message SET part_state = 0, uncertain_at = NULL WHERE key = ?"
            " AND part_state = 2",
            (message.key,),
        )
        return
    conn.execute(
        "UPDATE segment SET state = 0, updated_at = ? WHERE message = ? AND state = 2",
        (now_ms, message.key),
    )


def lose(conn: sqlite3.Connection, message: MessageState, now_ms: int) -> bool:
    """The outcome of parts that were being submitted is now unknown; False: there are none."""
    if message.segments == 1:
        lost = conn.execute(
            "UPDATE message SET part_state = 2, uncertain = uncertain + 1, uncertain_at = ?"
            " WHERE key = ? AND part_state = 1",
            (now_ms, message.key),
        )
    else:
        lost = conn.execute(
            "UPDATE segment SET state = 2, uncertain = uncertain + 1, updated_at = ?"
            " WHERE message = ? AND state = 1",
            (now_ms, message.key),
        )
    return lost.rowcount > 0
