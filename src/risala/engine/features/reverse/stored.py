"""Reverse verifications as they are stored: a row beside each session. What names a user, and what
would let a text count, goes as soon as the session is over."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.reverse.records import ReverseSession, TextFault
from risala.engine.journal.messages import sessions, verifications
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.model.feature_work import Forgot
from risala.engine.model.records.messages import Stamp, StoreArrival, StoreBeside
from risala.engine.model.records.verify.sessions import Method
from risala.engine.model.states import SessionState
from risala.engine.model.times import iso
from risala.engine.rules.verification import Trigger, VerificationRow

DAY_MS: Final = 86_400_000
KEPT_MS: Final = 30 * DAY_MS
"""For how long it is known in which way a session was opened."""
CLEARED_AT_ONCE: Final = 20
"""Old rows that one more session deletes: more than come with it."""
_ROWS: Final = Rows(
    ReverseSession,
    method=Method,
    refused=lambda text: None if text is None else TextFault(text),
)
_SELECT: Final = f"SELECT {_ROWS.columns} FROM reverse_sessions"  # noqa: S608 -- constants


def find(conn: sqlite3.Connection, verification_id: str) -> ReverseSession | None:
    """A session's row; None: it has a code, or is old."""
    return _one(conn, "verification_id = ?", verification_id)


def by_token(conn: sqlite3.Connection, token: bytes) -> ReverseSession | None:
    """The session of a page; None: there is none."""
    return _one(conn, "token = ?", token)


def _one(conn: sqlite3.Connection, where: str, value: object) -> ReverseSession | None:
    row = conn.execute(f"{_SELECT} WHERE {where} LIMIT 1", (value,)).fetchone()
    return None if row is None else _ROWS.of(row)


def begin(conn: sqlite3.Connection, new: ReverseSession, has_number: bool) -> None:
    """Store a new session, in the transaction that opens it. An earlier one in which the same
    number was to call ends: a call says for which one it is by the number alone.

    Args:
        has_number: False: the session's number is known once it is proven.
    """
    conn.execute(
        "DELETE FROM reverse_sessions WHERE verification_id IN (SELECT verification_id"
        " FROM reverse_sessions WHERE organization_id = ? AND created_at < ?"
        " AND word IS NULL AND number IS NULL ORDER BY verification_id LIMIT ?)",
        (new.organization_id, new.created_at - KEPT_MS, CLEARED_AT_ONCE),
    )
    if new.method is Method.MISSED_CALL and new.mode == "live":
        for earlier in _calling(conn, new.number or ""):
            _settle(conn, earlier.verification_id, Trigger.WITHDRAWN, Stamp(new.created_at))
    values = {name: getattr(new, name) for name in ReverseSession.__slots__}
    names = ", ".join(values)
    conn.execute(
        f"INSERT INTO reverse_sessions ({names}) VALUES ({', '.join('?' * len(values))})",  # noqa: S608 -- constants
        tuple(values.values()),
    )
    if not has_number:
        conn.execute("UPDATE verifications SET recipient = '' WHERE id = ?", (new.verification_id,))


def end(conn: sqlite3.Connection, verification_id: str) -> None:
    """A session is over: its word and its number count no more."""
    conn.execute(
        "UPDATE reverse_sessions SET word = NULL, number = NULL WHERE verification_id = ?",
        (verification_id,),
    )


# -- what phones send


def text_came(
    conn: sqlite3.Connection, stamp: Stamp, marks: Sequence[str], number: str, refused: TextFault
) -> None:
    """A text came: approve the session whose word is in it, unless it proves nothing.

    Args:
        marks: of what may be a word in it.
        number: who sent it, certainly; empty: nobody knows.
        refused: why it proves nothing, where ``number`` is empty.
    """
    for mark in marks:
        session = _one(conn, "word = ?", mark)
        if session is None:
            continue
        if number and session.number in (None, number):
            _approve(conn, session, number, stamp)
        else:
            reason = TextFault.OTHER_NUMBER if number else refused
            conn.execute(
                "UPDATE reverse_sessions SET refused = ? WHERE verification_id = ?",
                (reason.value, session.verification_id),
            )
        return


def call_came(conn: sqlite3.Connection, stamp: Stamp, number: str) -> None:
    """A call came: approve the newest session in which this number was to call."""
    calling = _calling(conn, number)
    if calling:
        _approve(conn, calling[0], number, stamp)


def _calling(conn: sqlite3.Connection, number: str) -> list[ReverseSession]:
    """The pending sessions in which a number was to call, the newest first."""
    rows = conn.execute(
        f"{_SELECT} WHERE number = ? AND method = ? AND mode = 'live'"
        " ORDER BY created_at DESC, verification_id DESC",
        (number, Method.MISSED_CALL.value),
    )
    return [_ROWS.of(row) for row in rows]


def _approve(conn: sqlite3.Connection, session: ReverseSession, number: str, stamp: Stamp) -> None:
    row = sessions.find(conn, session.verification_id)
    if row is None or row.status is not SessionState.PENDING or row.expires_at <= stamp.now_ms:
        return
    if session.number is None:
        conn.execute("UPDATE verifications SET recipient = ? WHERE id = ?", (number, row.id))
    _settle(conn, session.verification_id, Trigger.CODE_MATCHED, stamp)


def _settle(conn: sqlite3.Connection, verification_id: str, trigger: Trigger, stamp: Stamp) -> None:
    row = sessions.find(conn, verification_id)
    if row is not None and row.status is SessionState.PENDING:
        verifications.settle(conn, row, trigger, stamp)  # no message changes: there is none


def arrive_in_test(conn: sqlite3.Connection, row: VerificationRow, number: str, at: int) -> None:
    """A test session's text or call comes."""
    session = find(conn, row.id)
    if session is not None:
        _approve(conn, session, number, Stamp(at))


# -- what goes, and what an owner takes along


def clear(conn: sqlite3.Connection, limit: int, organization_id: str | None) -> Forgot:
    """Delete the rows of an organization that was deleted.

    Args:
        organization_id: None: of all. There is nothing to do then: old rows go as new ones come.
    """
    if organization_id is None:
        return Forgot(0, "", done=True)
    gone = conn.execute(
        "DELETE FROM reverse_sessions WHERE verification_id IN (SELECT verification_id"
        " FROM reverse_sessions WHERE organization_id = ? LIMIT ?)",
        (organization_id, limit),
    ).rowcount
    return Forgot(gone, "", done=gone < limit)


def erase(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> dict[str, int]:
    """Delete what is known of some of a number's sessions that are over; returns of how many."""
    gone = conn.execute(
        "DELETE FROM reverse_sessions WHERE verification_id IN (SELECT v.id FROM verifications v"
        " JOIN reverse_sessions r ON r.verification_id = v.id WHERE v.organization_id = ?"
        " AND v.mode IN ('live', 'test') AND v.recipient = ? AND v.status <> 'pending' LIMIT ?)",
        (organization_id, number, limit),
    ).rowcount
    return {"reverse verifications": gone}


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """An organization's reverse verifications."""
    listed = [
        _ROWS.of(row)
        for row in conn.execute(
            f"{_SELECT} WHERE organization_id = ? AND verification_id > ?"
            " ORDER BY verification_id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    rows = [
        {
            "verificationId": each.verification_id,
            "method": each.method.value,
            "sendTo": each.send_to,
            "createdAt": iso(each.created_at),
        }
        for each in listed
    ]
    return AccountPart(rows, listed[-1].verification_id if len(listed) == limit else None)


@dataclass(frozen=True, slots=True)
class ReverseRepository:
    """Reverse verifications. All reads are by an index, on the loop's thread."""

    _store: Store

    find = read(find)
    by_token = read(by_token)

    arrive_in_test = command(arrive_in_test)

    @staticmethod
    def text_came(marks: Sequence[str], number: str, refused: TextFault) -> StoreArrival:
        """:func:`text_came`, for the transaction that stores the text."""
        return partial(text_came, marks=marks, number=number, refused=refused)

    @staticmethod
    def call_came(number: str) -> StoreArrival:
        """:func:`call_came`, for the transaction of a call."""
        return partial(call_came, number=number)

    def beginning(self, new: ReverseSession, has_number: bool) -> StoreBeside:
        """:func:`begin`, for the transaction of the new session."""
        return partial(begin, new=new, has_number=has_number)
