"""Rows of a mailing are stored as they are checked, mended and left out."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from risala.engine.features.lists.stored_opt_outs import out_of
from risala.engine.features.mailings.records import Mailing, MailingRow, MailingState, RowState
from risala.engine.features.mailings.row_records import NewRow, ReadyRow, StoredMailing
from risala.engine.features.mailings.stored import mailings
from risala.engine.features.mailings.stored.rows import (
    BAD,
    LEFT_OUT,
    READY,
    RowCounts,
    delete_to,
    held,
    held_between,
    last_of_next,
    row,
    with_number,
)
from risala.engine.features.mailings.stored.settling import message_of
from risala.engine.features.tables.records import RowFault
from risala.engine.journal import storage
from risala.engine.journal.store.sql import rows_of_values, value_of, write_values
from risala.engine.model.errors import Conflict
from risala.engine.model.states import Mode

ROWS_AT_ONCE: Final = 500
"""Rows of one unit: some milliseconds of the writer."""
_NO_ROWS: Final = ("rows", "ready", "bad", "left_out", "accepted", "refused", "segments", "price")
_CAN_MEND: Final = (MailingState.DRAFT, MailingState.SENDING, MailingState.PAUSED)
_WITH_NUMBER: Final = with_number("1", "SELECT ? AS key")
_STORE: Final = (
    "INSERT OR REPLACE INTO mailing_rows"
    " (mailing, row, number, cells, state, fault, fault_column, segments, price) {values}"
)


def begin_check(
    conn: sqlite3.Connection,
    mailing_id: str,
    values: Mapping[str, object],
    *,
    clears: bool,
    size: int | None = None,
    bytes_max: int | None = None,
) -> Mailing:
    """Begin to check a draft again.

    Args:
        values: fields that change with it: the text, or how its file is read.
        clears: its file was read in another way, so that its rows go. Otherwise each is
            overwritten, and those that were left out stay so.
        size: bytes of its file and its rows; None: about as before.
        bytes_max: what the organization may store; None: as much as it likes.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is no draft, its rows are no longer kept, or the organization stores too much.
    """
    mailing = mailings.require(conn, mailing_id, (MailingState.DRAFT,))
    mailings.refuse_without_rows(mailing)
    begun = {**values, "state": MailingState.CHECKING, "checked": 0}
    if size is not None:
        size += mailings.BYTES_MIN
        more = size - mailings.bytes_of(conn, mailing_id)
        storage.refuse_full(conn, mailing.mailing.organization_id, more, bytes_max)
        begun["bytes"] = size
    if clears:
        begun |= {"clearing": 1, **dict.fromkeys(_NO_ROWS, 0)}
    mailings.write(conn, mailing_id, begun)
    return mailings.mailing(conn, mailing_id)


def clear_rows(conn: sqlite3.Connection, mailing_id: str, limit: int = ROWS_AT_ONCE) -> bool:
    """Delete some rows of an earlier reading; True once there is none.

    Raises:
        NotFound: the id is unknown.
    """
    mailing = mailings.stored(conn, mailing_id)
    if not mailing.clearing:
        return True
    last = last_of_next(conn, mailing.key, limit)
    done = last is None or delete_to(conn, mailing.key, last) < limit
    if done:
        mailings.write(conn, mailing_id, {"clearing": 0})
    return done


def store_rows(conn: sqlite3.Connection, mailing_id: str, new: Sequence[NewRow]) -> StoredMailing:
    """Store rows as they were checked, each after those before it; one that was left out stays so.

    A number that wants no messages of the organization makes its row bad.

    Raises:
        NotFound: the id is unknown.
        Conflict: the mailing is not being checked, or its former rows are not deleted.
    """
    mailing = mailings.require(conn, mailing_id, (MailingState.CHECKING,))
    if mailing.clearing:
        raise Conflict("The former rows of this mailing are still being deleted.")
    if new:
        _write(conn, mailing, new, stay_out=True)
        mailings.write(conn, mailing_id, {"checked": new[-1].row})
    return mailings.stored(conn, mailing_id)


def _write(
    conn: sqlite3.Connection, mailing: StoredMailing, new: Sequence[NewRow], *, stay_out: bool
) -> None:
    out = opted_out(conn, mailing, [each.number for each in new if each.number is not None])
    before = held_between(conn, mailing.key, new[0].row, new[-1].row)
    counts = RowCounts()
    written = []
    for each in new:
        fault, column = each.fault, each.column
        if fault is None and each.number in out:
            fault, column = RowFault.OPTED_OUT, None
        state = READY if fault is None else BAD
        former = before.get(each.row)
        if former is not None:
            counts.add(*former, sign=-1)
            state = LEFT_OUT if stay_out and former[0] == LEFT_OUT else state
        counts.add(state, each.segments, each.price)
        word = None if fault is None else fault.value
        values = (state, word, column, each.segments, each.price)
        written.append((mailing.key, each.row, each.number, each.cells, *values))
    write_values(conn, _STORE, written)
    counts.write(conn, mailing.key)


def opted_out(conn: sqlite3.Connection, stored: StoredMailing, numbers: Sequence[str]) -> set[str]:
    """Which of these want no messages of the organization, or of the list that the mailing is made
    of. Test messages reach nobody."""
    mailing, heeds = stored.mailing, "SELECT 1 FROM opt_out_policies WHERE organization_id = ?"
    if mailing.mode is not Mode.LIVE or value_of(conn, heeds, (mailing.organization_id,)) is None:
        return set()
    out = rows_of_values(
        conn,
        "SELECT o.recipient FROM ({values}) asked JOIN opt_outs o"
        " ON o.organization_id = asked.column1 AND o.recipient = asked.column2",
        2,
        [(mailing.organization_id, number) for number in numbers],
    )
    of_list = set() if stored.list_id is None else out_of(conn, stored.list_id, numbers)
    return {recipient for (recipient,) in out} | of_list


def left_by_list(
    conn: sqlite3.Connection, stored: StoredMailing, ready: Sequence[ReadyRow]
) -> set[int]:
    """The rows whose people have opted out of the mailing's list since they were checked. Messages
    that were accepted already are none of them, noted or not."""
    out = opted_out(conn, stored, [each.number for each in ready]) if stored.list_id else set()
    return {
        each.row for each in ready if each.number in out and not message_of(conn, stored, each.row)
    }


def finish_check(conn: sqlite3.Connection, mailing_id: str) -> Mailing:
    """All rows of a mailing are checked: it is a draft.

    Raises:
        NotFound: the id is unknown.
    """
    if mailings.mailing(conn, mailing_id).state is MailingState.CHECKING:
        mailings.write(conn, mailing_id, {"state": MailingState.DRAFT})
    return mailings.mailing(conn, mailing_id)


def mend(conn: sqlite3.Connection, mailing_id: str, new: NewRow) -> MailingRow:
    """Write a row as somebody mended it; it is bad if another one that is sent has its number.

    Raises:
        NotFound: the mailing or the row is unknown.
        Conflict: it is too late: the row may be on its way, or the mailing has ended.
    """
    mailing = mailings.require(conn, mailing_id, _CAN_MEND)
    former = row(conn, mailing.key, new.row)
    may_be_sent = former.state is RowState.READY and mailing.mailing.started_at is not None
    if may_be_sent or former.state in (RowState.ACCEPTED, RowState.REFUSED):
        raise Conflict("This row is already being sent.")
    if new.fault is None and _is_double(conn, mailing.key, new):
        new = replace(new, fault=RowFault.DOUBLE, column=None)
    _write(conn, mailing, [new], stay_out=False)
    return row(conn, mailing.key, new.row)


def _is_double(conn: sqlite3.Connection, key: int, new: NewRow) -> bool:
    earlier = value_of(
        conn,
        f"{_WITH_NUMBER} WHERE r.row <> ? AND r.state NOT IN (?, ?) LIMIT 1",
        (key, new.number, new.row, BAD, LEFT_OUT),
    )
    return earlier is not None


def leave_out(conn: sqlite3.Connection, mailing_id: str, number: int | None) -> Mailing:
    """Leave a row out, which is not sent then; or some of the bad ones.

    Args:
        number: the row; None: :data:`ROWS_AT_ONCE` of the bad ones.

    Raises:
        NotFound: the mailing or the row is unknown.
        Conflict: the row is sent, or the mailing has ended.
    """
    mailing = mailings.require(conn, mailing_id, _CAN_MEND)
    if number is None:
        going = conn.execute(
            "SELECT row, state, segments, price FROM mailing_rows WHERE mailing = ? AND state = ?"
            " ORDER BY row LIMIT ?",
            (mailing.key, BAD, ROWS_AT_ONCE),
        ).fetchall()
    else:
        going = _one_to_leave(conn, mailing, number)
    _leave(conn, mailing.key, going)
    return mailings.mailing(conn, mailing_id)


def leave_ready_out(conn: sqlite3.Connection, key: int, numbers: Sequence[int]) -> int:
    """Leave out those of these rows that are ready; returns how many it were."""
    rows = held(conn, key, list(numbers))
    ready = [(number, *rows[number]) for number in rows if rows[number][0] == READY]
    _leave(conn, key, ready)
    return len(ready)


def _leave(conn: sqlite3.Connection, key: int, going: Sequence[tuple[int, int, int, int]]) -> None:
    """Leave out rows, given with state, segments and price."""
    counts = RowCounts()
    for _, state, segments, price in going:
        counts.add(state, segments, price, sign=-1)
        counts.add(LEFT_OUT, segments, price)
    conn.executemany(
        "UPDATE mailing_rows SET state = ? WHERE mailing = ? AND row = ?",
        [(LEFT_OUT, key, number) for number, *_ in going],
    )
    counts.write(conn, key)


def _one_to_leave(
    conn: sqlite3.Connection, mailing: StoredMailing, number: int
) -> list[tuple[int, int, int, int]]:
    """The row, unless it is left out.

    Raises:
        NotFound: it is unknown.
        Conflict: it is sent.
    """
    state = row(conn, mailing.key, number).state
    if state in (RowState.ACCEPTED, RowState.REFUSED) or message_of(conn, mailing, number):
        raise Conflict("This row is already being sent.")
    if state is RowState.LEFT_OUT:
        return []
    return [(number, *held(conn, mailing.key, [number])[number])]
