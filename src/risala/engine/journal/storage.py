"""How much an organization's mailings, lists and exports take on the disk, and since when
anything is stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from risala.engine.journal.store import sql as meta
from risala.engine.journal.store.sql import value_of
from risala.engine.model.errors import Conflict
from risala.engine.model.records.upkeep.stored import FullOrganization, StoredOfKind

_PASSED: Final = "retention.passed"
STORED_FULL: Final = (
    "The organization stores as much as it may. Delete ended mailings, drafts or lists that it does"
    " not need."
)
"""The refusal of one more mailing, list or upload."""
MAILING_BYTES_MIN: Final = 16_384
"""What a mailing takes besides its file and rows. As every mailing counts for so much, an
organization has few enough of them that their sum is quickly read."""
_MAILINGS: Final = (
    "SELECT count(*), coalesce(sum(rows), 0), coalesce(sum(bytes), 0) FROM mailings"
    " WHERE organization_id = ? AND keeps_rows = 1"
)
_LISTS: Final = (
    "SELECT count(*), coalesce(sum(people), 0), coalesce(sum(bytes), 0) FROM recipient_lists"
    " WHERE organization_id = ?"
)
_EXPORTS: Final = (
    "SELECT count(*), coalesce(sum(written), 0), coalesce(sum(bytes), 0) FROM exports"
    " WHERE organization_id = ? AND state IN ('writing', 'ready')"
)


def of_organization(conn: sqlite3.Connection, organization_id: str) -> tuple[StoredOfKind, ...]:
    """Mailings whose rows are kept, deleted ones until their rows are gone; lists; exports."""
    return (*_limited(conn, organization_id), _of(conn, "exports", _EXPORTS, organization_id))


def _limited(conn: sqlite3.Connection, organization_id: str) -> Iterator[StoredOfKind]:
    yield _of(conn, "mailings", _MAILINGS, organization_id)
    yield _of(conn, "lists", _LISTS, organization_id)


def _of(conn: sqlite3.Connection, name: str, statement: str, organization_id: str) -> StoredOfKind:
    [(count, rows, octets)] = conn.execute(statement, (organization_id,))
    return StoredOfKind(name, count, rows, octets)


def limited_bytes(conn: sqlite3.Connection, organization_id: str) -> int:
    """What counts against an organization's limit of stored bytes: mailings and lists."""
    return sum(each.bytes for each in _limited(conn, organization_id))


def refuse_full(
    conn: sqlite3.Connection, organization_id: str, more: int, bytes_max: int | None
) -> None:
    """Refuse to store more.

    Args:
        more: further bytes; less than one is never refused.
        bytes_max: what the organization may store; None: as much as it likes.

    Raises:
        Conflict: it would store more than that.
    """
    if bytes_max is None or more <= 0:
        return
    if limited_bytes(conn, organization_id) + more > bytes_max:
        raise Conflict(STORED_FULL)


def fullest(conn: sqlite3.Connection, bytes_min: int, limit: int) -> list[FullOrganization]:
    """Organizations that store at least so much, the fullest first. It reads what all of them
    store."""
    rows = conn.execute(
        "SELECT o.id, o.name, sum(s.bytes) AS stored FROM ("
        "SELECT organization_id, bytes FROM mailings WHERE keeps_rows = 1 UNION ALL"
        " SELECT organization_id, bytes FROM recipient_lists) s"
        " JOIN organizations o ON o.id = s.organization_id"
        " GROUP BY o.id HAVING stored >= ? ORDER BY stored DESC LIMIT ?",
        (bytes_min, limit),
    )
    return [FullOrganization(*row) for row in rows]


def count_list(conn: sqlite3.Connection, key: int, more: int) -> None:
    """Note that the people of a list take more bytes, or fewer."""
    conn.execute("UPDATE recipient_lists SET bytes = bytes + ? WHERE key = ?", (more, key))


def mailing_bytes(conn: sqlite3.Connection, mailing_id: str) -> int:
    """What a mailing takes; 0: it is unknown."""
    return value_of(conn, "SELECT bytes FROM mailings WHERE id = ?", (mailing_id,)) or 0


def uploads(conn: sqlite3.Connection) -> set[str]:
    """The uploads that mailings were read from, and may be read from again: those of the days that
    their rows are kept."""
    rows = conn.execute("SELECT upload FROM mailings WHERE upload IS NOT NULL")
    return {upload for (upload,) in rows}


# -- of the whole database


def passed_at(conn: sqlite3.Connection) -> int | None:
    """When all old rows were last looked through, UTC epoch milliseconds; None: never."""
    noted = meta.get(conn, _PASSED)
    return None if noted is None else int(noted)


def note_passed(conn: sqlite3.Connection, now_ms: int) -> None:
    """All old rows were looked through."""
    meta.put(conn, _PASSED, str(now_ms))


def newest_ms(conn: sqlite3.Connection) -> int | None:
    """When the newest row was written, by the clock of that time; None: there is no row."""
    found: int | None = value_of(
        conn,
        "SELECT max(at) FROM (SELECT at FROM (SELECT coalesce(at, message >> 15) AS at FROM entry"
        " WHERE seq > 0 ORDER BY seq DESC LIMIT 1) UNION ALL SELECT max(key) >> 15 FROM message)",
    )
    return found


def first_ms(conn: sqlite3.Connection) -> int | None:
    """Since when there is something to lose; None: nothing."""
    found: int | None = value_of(
        conn, "SELECT created_at FROM organizations WHERE no >= 0 ORDER BY no LIMIT 1"
    )
    return found
