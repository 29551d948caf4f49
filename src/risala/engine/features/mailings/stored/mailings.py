"""Mailings as rows: made, changed, deleted."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from risala.engine.features.mailings.records import Mailing, Mailings, MailingState, MailingWait
from risala.engine.features.mailings.row_records import StoreBeside, StoredMailing
from risala.engine.journal import storage
from risala.engine.journal.accounts import accounts
from risala.engine.journal.store.named import BrokenRow, Rows, columns_of, readable
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import writable
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.records.people.organizations import StoredTable
from risala.engine.model.records.record import shallow

OPEN_MAX: Final = 100
"""Mailings of one organization that have not ended: each may have a file of 20 MB beside it."""
ENDED: Final = (MailingState.STOPPED, MailingState.DONE)
_OPEN: Final = tuple(each for each in MailingState if each not in ENDED)
_TABLE: Final = "mailings"
STORED: Final = StoredTable(_TABLE, rows="rows", where="keeps_rows = 1")
"""Deleted ones too, until their rows are gone."""
BYTES_MIN: Final = 16_384
"""What a mailing takes besides its file and rows. As every mailing counts for so much, an
organization has few enough of them that their sum is quickly read."""
_ROWS: Final = Rows.of_record(Mailing)
_STORED: Final = (
    f"SELECT {_ROWS.columns}, key, upload, list_id, checked, clearing FROM mailings"  # noqa: S608 -- names of ours
    " WHERE deleted_at IS NULL"
)
_ID: Final = 0
"""The place of the id in such a row."""
SHIFTS: Final = (
    "UPDATE mailings SET again_at = again_at - :by WHERE state = 'sending' AND again_at > :now"
    " AND wait NOT IN ('send_at', 'hours', 'spend_cap')",
)
"""Move the times of waits back with the clock."""


def add(
    conn: sqlite3.Connection,
    new: Mailing,
    upload: str | None,
    list_id: str | None = None,
    *,
    size: int = 0,
    bytes_max: int | None = None,
    beside: StoreBeside | None = None,
) -> Mailing:
    """Store a mailing without rows.

    Args:
        upload: the file that it was read from.
        list_id: the list that it is made of.
        size: bytes of its file and its rows.
        bytes_max: what the organization may store; None: as much as it likes.
        beside: what else is stored with it: a function of the connection and the mailing's id.

    Raises:
        NotFound: no such organization.
        Conflict: the organization has too many that have not ended, or stores too much.
    """
    accounts.organization(conn, new.organization_id)
    open_ones = sum(_count(conn, new.organization_id, state) for state in _OPEN)
    if open_ones >= OPEN_MAX:
        raise Conflict(
            f"An organization can have at most {OPEN_MAX} mailings that have not ended. Delete "
            "drafts that you do not need."
        )
    size += BYTES_MIN
    storage.refuse_full(conn, new.organization_id, size, bytes_max)
    values = columns_of(shallow(new))
    writable(conn, _TABLE).insert({**values, "upload": upload, "list_id": list_id, "bytes": size})
    if beside is not None:
        beside(conn, new.id)
    return mailing(conn, new.id)


def _count(conn: sqlite3.Connection, organization_id: str, state: MailingState) -> int:
    statement = (
        "SELECT count(*) FROM mailings WHERE state = ? AND organization_id = ?"
        " AND deleted_at IS NULL"
    )
    return int(value_of(conn, statement, (state.value, organization_id)))


def stored(conn: sqlite3.Connection, mailing_id: str) -> StoredMailing:
    """One mailing, with what only the engine needs.

    Raises:
        NotFound: the id is unknown.
    """
    row = conn.execute(f"{_STORED} AND id = ?", (mailing_id,)).fetchone()
    if row is None:
        raise NotFound(f"There is no mailing {mailing_id}.")
    return _stored_of(row)


def _stored_of(row: Sequence[Any]) -> StoredMailing:
    *fields, key, upload, list_id, checked, clearing = row
    return StoredMailing(_ROWS.of(fields), key, upload, list_id, checked, bool(clearing))


def mailing(conn: sqlite3.Connection, mailing_id: str) -> Mailing:
    """One mailing.

    Raises:
        NotFound: the id is unknown.
    """
    return stored(conn, mailing_id).mailing


def of_state(
    conn: sqlite3.Connection, state: MailingState, broken: BrokenRow | None = None
) -> list[StoredMailing]:
    """All mailings that are checked, or that send, or are paused: few at a time."""
    rows = conn.execute(f"{_STORED} AND state = ? ORDER BY key", (state.value,))
    return [*readable(rows, _stored_of, _ID, broken)]


def page(conn: sqlite3.Connection, organization_id: str, older: str | None, limit: int) -> Mailings:
    """A page of an organization's mailings, the newest first.

    Args:
        older: where it begins, as the page before it says; None: with the newest.
    """
    before, values = "", [organization_id]
    if older is not None:
        before, values = " AND key < CAST(? AS INTEGER)", [organization_id, older]
    rows = conn.execute(
        f"{_STORED} AND organization_id = ?{before} ORDER BY key DESC LIMIT ?",
        (*values, limit + 1),
    )
    mailings = [_stored_of(row) for row in rows]
    shown = mailings[:limit]
    last = str(shown[-1].key) if len(mailings) > limit else None
    return Mailings(tuple(each.mailing for each in shown), last)


def change(
    conn: sqlite3.Connection,
    mailing_id: str,
    values: Mapping[str, object],
    states: Collection[MailingState] = (),
) -> Mailing:
    """Change fields of a mailing, its state too.

    Args:
        values: by the names of the record's fields, and ``upload``.
        states: those in which this is possible; empty: any.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is in another state; or it is to send, and its rows are no longer kept.
    """
    draft = require(conn, mailing_id, states)
    if values.get("state") is MailingState.SENDING:
        refuse_without_rows(draft)
    if values:
        write(conn, mailing_id, values)
    return mailing(conn, mailing_id)


def require(
    conn: sqlite3.Connection, mailing_id: str, states: Collection[MailingState]
) -> StoredMailing:
    """A mailing that is in one of these states; none given: in any.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is in another state.
    """
    mailing = stored(conn, mailing_id)
    if states and mailing.mailing.state not in states:
        raise Conflict(_NOT_NOW[mailing.mailing.state])
    return mailing


def refuse_without_rows(mailing: StoredMailing) -> None:
    """
    Raises:
        Conflict: retention has deleted the mailing's rows.
    """
    if not mailing.mailing.keeps_rows:
        raise Conflict("The rows of this mailing are no longer kept.")


_NOT_NOW: Final[Mapping[MailingState, str]] = {
    MailingState.CHECKING: "The rows of this mailing are still being checked.",
    MailingState.DRAFT: "This mailing has not been started.",
    MailingState.SENDING: "This mailing is being sent. Pause it first.",
    MailingState.PAUSED: "This mailing is paused.",
    MailingState.STOPPED: "This mailing has been stopped.",
    MailingState.DONE: "This mailing has ended.",
}


def write(conn: sqlite3.Connection, mailing_id: str, values: Mapping[str, object]) -> None:
    """Write columns of a mailing that exists."""
    columns = columns_of(values)
    assigned = ", ".join(f"[{name}] = ?" for name in columns)
    conn.execute(
        f"UPDATE mailings SET {assigned} WHERE id = ?",  # noqa: S608 -- names of ours
        (*columns.values(), mailing_id),
    )


def wait(
    conn: sqlite3.Connection, mailing_id: str, wait: MailingWait | None, again_at: int | None
) -> Mailing:
    """Note what a mailing waits for, if it sends; no change writes nothing.

    Raises:
        NotFound: the id is unknown.
    """
    current = mailing(conn, mailing_id)
    if current.state is MailingState.SENDING and (current.wait, current.again_at) != (
        wait,
        again_at,
    ):
        write(conn, mailing_id, {"wait": wait, "again_at": again_at})
    return mailing(conn, mailing_id)


def pause_all(conn: sqlite3.Connection) -> int:
    """Pause all mailings that send, after a restore: rows that are ready here may have been sent
    since the backup. Returns how many it were."""
    return conn.execute(
        "UPDATE mailings SET state = 'paused', wait = NULL, again_at = NULL WHERE state = 'sending'"
    ).rowcount


def end(conn: sqlite3.Connection, mailing_id: str, state: MailingState, now_ms: int) -> Mailing:
    """End a mailing that was started; one that has ended stays as it is.

    Args:
        state: ``STOPPED`` or ``DONE``.

    Raises:
        NotFound: the id is unknown.
        Conflict: it was not started; or rows are ready, and it is to be done.
    """
    current = require(conn, mailing_id, (MailingState.SENDING, MailingState.PAUSED, *ENDED)).mailing
    if current.ended_at is None:
        if state is MailingState.DONE and current.ready:
            raise Conflict("Some rows of this mailing are still ready.")
        ended = {"state": state, "ended_at": now_ms, "wait": None, "again_at": None}
        write(conn, mailing_id, ended)
    return mailing(conn, mailing_id)


def delete(conn: sqlite3.Connection, mailing_id: str, now_ms: int) -> Mailing:
    """Delete a mailing: nobody sees it from now on, and its rows go in pieces.

    Raises:
        NotFound: the id is unknown.
        Conflict: it was started, and has not ended.
    """
    states = (MailingState.CHECKING, MailingState.DRAFT, *ENDED)
    deleted = require(conn, mailing_id, states).mailing
    write(conn, mailing_id, {"deleted_at": now_ms, "clearing": 1, "upload": None})
    return deleted


def bytes_of(conn: sqlite3.Connection, mailing_id: str) -> int:
    """What a mailing takes; 0: it is unknown."""
    return value_of(conn, "SELECT bytes FROM mailings WHERE id = ?", (mailing_id,)) or 0


def uploads(conn: sqlite3.Connection) -> set[str]:
    """The uploads that mailings were read from, and may be read from again: those of the days that
    their rows are kept."""
    rows = conn.execute("SELECT upload FROM mailings WHERE upload IS NOT NULL")
    return {upload for (upload,) in rows}
