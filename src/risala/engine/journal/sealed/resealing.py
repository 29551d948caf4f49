"""Seals all stored secrets with the newest key: those of an older version, which are plain, and
those that a former key sealed.

The database notes by which key everything is sealed. If that is not the newest, the next opening
goes on: so a rotation that was cut short is completed, and so is an upgrade from 1.0.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import structlog
from sqlite_utils import Database

from risala.dataclass import dataclass
from risala.engine.journal.sealed.columns import SealedColumn, sealed_columns
from risala.engine.journal.store import meta
from risala.engine.journal.store.opening import Migrate, open_reader, sqlite_sentence
from risala.engine.journal.store.repository import Store
from risala.engine.journal.store.sealing_key import SealingKeys
from risala.engine.journal.store.tables import writable
from risala.engine.model.errors import SecretLost, StorageUnusable
from risala.engine.model.records.upkeep.sealed import LostSecret, SealedCount
from risala.engine.rules.sealing import SecretPurpose, key_of

ROWS_AT_ONCE: Final = 200
"""Rows that one unit of a rotation seals: some 5 ms of the writer."""
VACUUM_BYTES_MAX: Final = 2 << 30
"""A larger database is not written anew by an upgrade: that would take minutes, and as much room
again. Its cells are overwritten all the same; the log says how to do the rest."""
SEALED_BY: Final = "sealed_by"
"""In ``meta``: the id of the key that sealed everything."""

EXPORTED: Final = "sealing_key_exported"
"""In ``meta``: the id of the key that was last exported, and when."""
_SECURE: Final = "SECURE_DELETE"
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ResealCursor:
    """The place where a rotation goes on: a column, and the last row that was looked at."""

    column: int = 0
    after: str = ""


def sealed_in(keys: SealingKeys, migrate: Migrate) -> Migrate:
    """A migration after which every secret is sealed with the newest of these keys."""

    def run(db: Database) -> None:
        migrate(db)
        seal_all(db.conn, keys)

    return run


def seal_all(conn: sqlite3.Connection, keys: SealingKeys) -> int:
    """Seal what the newest key has not sealed; returns how many values were plain.

    On a connection that nobody else writes with, outside a transaction: all of it is one.
    """
    newest = keys.ring().newest.id
    if meta.get(conn, SEALED_BY) == newest:
        return 0
    conn.execute("BEGIN IMMEDIATE")
    try:
        plain = 0
        for column in sealed_columns():
            for identity, stored in _rows(conn, column, "", None):
                plain += _seal_one(conn, keys, column, identity, stored)
        meta.put(conn, SEALED_BY, newest)
    except BaseException:
        conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")
    if plain:
        _wipe(conn)  # their cells are overwritten already: the writer deletes securely
        _log.info("secrets.sealed", count=plain)
    return plain


def seal_some(
    conn: sqlite3.Connection, place: ResealCursor | None, *, keys: SealingKeys
) -> tuple[int, ResealCursor | None]:
    """Seal the next rows with the newest key, as a unit of a service that runs.

    The unit makes nonces by chance. If it runs twice the second ones are others, which is as well:
    nothing outside has seen the first.

    Args:
        place: where the last call ended; None: at the beginning.

    Returns:
        How many rows were sealed, and where to go on; None: everything is sealed, and noted so.
    """
    here = place or ResealCursor()
    column = sealed_columns()[here.column]
    rows = list(_rows(conn, column, here.after, ROWS_AT_ONCE))
    for identity, stored in rows:
        _seal_one(conn, keys, column, identity, stored)
    if len(rows) == ROWS_AT_ONCE:
        return len(rows), ResealCursor(here.column, rows[-1][0])
    if here.column + 1 < len(sealed_columns()):
        return len(rows), ResealCursor(here.column + 1)
    meta.put(conn, SEALED_BY, keys.ring().newest.id)
    return len(rows), None


def lost(conn: sqlite3.Connection, keys: SealingKeys) -> Iterator[LostSecret]:
    """The secrets that these keys do not open, each with the command that makes it anew."""
    for column in sealed_columns():
        for identity, stored in _rows(conn, column, "", None):
            for bound_to, text in column.texts(identity, stored):
                if not _opens(keys, column.purpose, bound_to, text):
                    yield LostSecret(
                        column.purpose.value, identity, column.remedy.format(identity), key_of(text)
                    )
                    break


def counted(conn: sqlite3.Connection) -> dict[str, int]:
    """How many rows have a secret of each purpose."""
    counts: dict[str, int] = {}
    for column in sealed_columns():
        count = sum(1 for _ in _rows(conn, column, "", None))
        counts[column.purpose.value] = counts.get(column.purpose.value, 0) + count
    return counts


def _rows(
    conn: sqlite3.Connection, column: SealedColumn, after: str, limit: int | None
) -> Iterator[tuple[str, str | bytes]]:
    """Rows with something in this column, by their ids."""
    name = column.column
    statement = (
        f"SELECT {column.key}, {name} FROM {column.table} WHERE {column.key} > ?"  # noqa: S608 -- names of ours
        f" AND {name} IS NOT NULL AND length({name}) > 0 AND {name} <> '{{}}'"
        f" ORDER BY {column.key} LIMIT ?"
    )
    yield from conn.execute(statement, (after, -1 if limit is None else limit)).fetchall()


def _seal_one(
    conn: sqlite3.Connection,
    keys: SealingKeys,
    column: SealedColumn,
    identity: str,
    stored: str | bytes,
) -> int:
    """Seal one row's value; returns how many of its texts were plain. What a lost key sealed stays
    as it is: the key may come back."""
    plain, newest = 0, keys.ring().newest.id

    def reseal(purpose: SecretPurpose, bound_to: str, text: str) -> str:
        nonlocal plain
        if key_of(text) == newest:
            return text
        if key_of(text) is None:
            plain += 1
            return keys.seal(purpose, bound_to, _octets(text, stored))
        try:
            return keys.seal(purpose, bound_to, keys.unseal(purpose, bound_to, text))
        except SecretLost:
            return text

    made = column.changed(identity, stored, reseal)
    if made != stored:
        writable(conn, column.table).update(identity, {column.column: made})
    return plain


def _octets(text: str, stored: str | bytes) -> bytes:
    return text.encode() if isinstance(stored, str) else text.encode("latin-1")


def _opens(keys: SealingKeys, purpose: SecretPurpose, bound_to: str, text: str) -> bool:
    try:
        keys.unseal(purpose, bound_to, text)
    except SecretLost:
        return False
    return True


def _wipe(conn: sqlite3.Connection) -> None:
    """Leave nothing of what was plain in free pages, or in the WAL. Where SQLite is built to delete
    securely, as Debian's is, no former version left anything in free pages either."""
    options = {option for (option,) in conn.execute("PRAGMA compile_options")}
    (path,) = (name for _, schema, name in conn.execute("PRAGMA database_list") if schema == "main")
    if _SECURE in options:
        pass
    elif path and os.path.getsize(path) > VACUUM_BYTES_MAX:
        _log.warning(
            "secrets.not_vacuumed",
            database=Path(path).name,
            do="stop the service, run `sqlite3 risala.db VACUUM`, and start it again",
        )
    else:
        conn.execute("VACUUM")
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class SealedRepository:
    """The sealed secrets as a whole: what of them opens, and all of them sealed anew. Scans read
    every one, on a thread."""

    _store: Store

    sealed_in = staticmethod(sealed_in)

    async def lost(self) -> tuple[LostSecret, ...]:
        """The secrets that no key here opens."""
        keys = self._store.sealing
        return await self._store.scan(lambda conn: tuple(lost(conn, keys)))

    async def counted(self) -> tuple[SealedCount, ...]:
        """How many there are, by purpose."""
        counts = await self._store.scan(counted)
        return tuple(SealedCount(purpose, count) for purpose, count in counts.items())

    async def reseal(self) -> int:
        """Seal all of them with the newest key, some at a time; returns how many rows there were.
        What is cut short goes on at the next start."""
        place, total = None, 0
        while True:
            unit = partial(seal_some, place=place, keys=self._store.sealing)
            done, place = await self._store.commit(unit)
            total += done
            if place is None:
                return total

    def exported_at(self) -> int | None:
        """When the newest key was last exported; None: never."""
        key, _, at = (meta.get(self._store.reader, EXPORTED) or "").partition(" ")
        return int(at) if key == self._store.sealing.ring().newest.id else None

    async def note_exported(self, now_ms: int) -> None:
        """Note that the newest key was exported."""
        note = f"{self._store.sealing.ring().newest.id} {now_ms}"

        def unit(conn: sqlite3.Connection) -> None:
            meta.put(conn, EXPORTED, note)

        await self._store.commit(unit)


@dataclass(frozen=True, slots=True)
class SealedFacts:
    total: int
    """Stored secrets."""
    lost: int
    """Secrets that no key here opens."""
    has_key: bool
    is_exported: bool
    """The newest key was exported."""


def examine(database: Path) -> SealedFacts:
    """Look at all sealed secrets, and at the keys beside them.

    Raises:
        StorageUnusable: the database or the keys cannot be read.
    """
    keys = SealingKeys(database.parent)
    try:
        with closing(open_reader(database)) as conn:
            total = sum(counted(conn).values())
            if not total or not keys.are_there:
                return SealedFacts(total, total, keys.are_there, False)
            unopened = sum(1 for _ in lost(conn, keys))
            exported = (meta.get(conn, EXPORTED) or "").partition(" ")[0]
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(database, error)) from error
    return SealedFacts(total, unopened, True, exported == keys.ring().newest.id)
