"""How much an organization's things besides messages take on the disk, and since when anything is
stored; and how much waits for an operator."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.accounts import senders
from risala.engine.journal.store import meta
from risala.engine.journal.store.repository import Store, command, read, scan
from risala.engine.journal.store.sql import value_of
from risala.engine.model.errors import Conflict
from risala.engine.model.features import Feature, features
from risala.engine.model.records.people.organizations import (
    STORED_FULL,
    FullOrganization,
    StoredOfKind,
    StoredTable,
)
from risala.engine.model.records.upkeep.service import DECIDING_MAX, Deciding

_PASSED: Final = "retention.passed"


def of_organization(conn: sqlite3.Connection, organization_id: str) -> tuple[StoredOfKind, ...]:
    """What is in the tables of features; that which counts against the limit comes first."""
    return tuple(
        _of(conn, kind, stored, organization_id)
        for is_limited in (True, False)
        for kind, stored in _tables(is_limited=is_limited)
    )


def _tables(*, is_limited: bool) -> Iterator[tuple[str, StoredTable]]:
    """By their kinds; what stands on others comes before them."""
    for feature in reversed(features()):
        for kind, declared in feature.stores.items():
            stored: StoredTable = declared()
            if stored.is_limited is is_limited:
                yield kind, stored


def _of(
    conn: sqlite3.Connection, kind: str, stored: StoredTable, organization_id: str
) -> StoredOfKind:
    statement = (
        f"SELECT count(*), coalesce(sum({stored.rows}), 0), coalesce(sum(bytes), 0)"  # noqa: S608 -- names of ours
        f" FROM {stored.table} WHERE organization_id = ?"
    )
    if stored.where:
        statement += f" AND {stored.where}"
    [(count, rows, octets)] = conn.execute(statement, (organization_id,))
    return StoredOfKind(kind, count, rows, octets)


def limited_bytes(conn: sqlite3.Connection, organization_id: str) -> int:
    """What counts against an organization's limit of stored bytes."""
    return sum(
        _of(conn, kind, stored, organization_id).bytes for kind, stored in _tables(is_limited=True)
    )


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
    each = (
        f"SELECT organization_id, bytes FROM {stored.table}"  # noqa: S608 -- names of ours
        + (f" WHERE {stored.where}" if stored.where else "")
        for _, stored in _tables(is_limited=True)
    )
    rows = conn.execute(
        f"SELECT o.id, o.name, sum(s.bytes) AS stored FROM ({' UNION ALL '.join(each)}) s"  # noqa: S608 -- names of ours
        " JOIN organizations o ON o.id = s.organization_id"
        " GROUP BY o.id HAVING stored >= ? ORDER BY stored DESC LIMIT ?",
        (bytes_min, limit),
    )
    return [FullOrganization(*row) for row in rows]


def has_nothing_of(conn: sqlite3.Connection, feature: Feature) -> bool:
    """Whether all tables of a feature are empty, so that nothing of it need be done, or loaded."""
    return not any(
        value_of(conn, f"SELECT 1 FROM {name} LIMIT 1")  # noqa: S608 -- names of ours
        for name in feature.tables
    )


def uploads(conn: sqlite3.Connection) -> set[str]:
    """The uploads that something was read from, and may be read from again."""
    held: set[str] = set()
    for feature in features():
        if feature.holds_uploads is not None and not has_nothing_of(conn, feature):
            held |= feature.holds_uploads()(conn)
    return held


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
    newest: int | None = value_of(
        conn,
        "SELECT max(at) FROM (SELECT at FROM (SELECT coalesce(at, message >> 15) AS at FROM entry"
        " WHERE seq > 0 ORDER BY seq DESC LIMIT 1) UNION ALL SELECT max(key) >> 15 FROM message)",
    )
    return newest


def first_ms(conn: sqlite3.Connection) -> int | None:
    """Since when there is something to lose; None: nothing."""
    first: int | None = value_of(
        conn, "SELECT created_at FROM organizations WHERE no >= 0 ORDER BY no LIMIT 1"
    )
    return first


def deciding(conn: sqlite3.Connection, now_ms: int) -> Deciding:
    """One read of each kind, bounded all."""
    theirs = {
        name: int(count()(conn, now_ms))
        for feature in features()
        for name, count in feature.decides.items()
    }
    return Deciding(
        senders=senders.count_asked(conn, DECIDING_MAX),
        **theirs,
    )


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class StorageRepository:
    """What takes how much on the disk: by organization on the loop's thread, by an index; of all of
    them on a thread. The times of the newest and the first row are read on the loop's thread."""

    _store: Store

    has_nothing_of = read(has_nothing_of)
    limited_bytes = read(limited_bytes)
    uploads = read(uploads)
    newest_ms = read(newest_ms)
    first_ms = read(first_ms)
    deciding = read(deciding)
    of_organization = scan(of_organization)
    fullest = scan(fullest)
    passed_at = read(passed_at)
    note_passed = command(note_passed)
