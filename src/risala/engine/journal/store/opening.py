"""Opening the database file: hardened, private to us, or refused in one sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from sqlite_utils import Database

from risala.engine.journal.store import meta
from risala.engine.journal.store.lock import claim_file
from risala.engine.journal.store.schema import foreign
from risala.engine.journal.store.schema.foreign import ForeignSchema
from risala.engine.journal.store.schema.migrations import WrongSchema, refuse_wrong
from risala.engine.journal.store.watched import Meet, WatchedConnection
from risala.engine.model.errors import StorageFailed, StorageUnusable

Migrate: TypeAlias = Callable[[Database], None]
"""Brings the schema up to date."""
SQLITE_VERSION: Final = sqlite3.sqlite_version_info
"""The version of the library that this process uses."""

# There is no other writer, so only a stray tool can lock the file: wait for it, but briefly.
_BUSY_TIMEOUT_MS: Final = 1000
# A long reader lets the WAL grow; after the next checkpoint it is truncated to this.
_WAL_LIMIT_BYTES: Final = 64 * 1024 * 1024
# Page caches, where no setting says. No mmap: its pages would count in our memory, and a bad disk
# would be a SIGBUS.
PAGE_CACHE_MB: Final = 8
# More than the number of statements in the source, so that each is compiled once.
_CACHED_STATEMENTS: Final = 512


def connect(
    path: Path, mode: str, make: Callable[..., sqlite3.Connection] = sqlite3.Connection
) -> sqlite3.Connection:
    return make(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=_BUSY_TIMEOUT_MS / 1000,
        isolation_level=None,  # we write BEGIN and COMMIT ourselves
        check_same_thread=False,  # opened by one thread, used by another, never by two at once
        cached_statements=_CACHED_STATEMENTS,
    )


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that can only read; rows are tuples. Safe beside the writer, in any process."""
    return _prepared(connect(path, "ro"))


def open_watched(path: Path, meet: Meet, page_cache_mb: int = PAGE_CACHE_MB) -> sqlite3.Connection:
    """:func:`open_reader`, with a connection that reports the storage's errors to ``meet``.

    Raises:
        StorageFailed: it cannot be read.
    """
    return _prepared(connect(path, "ro", partial(WatchedConnection, meet=meet)), page_cache_mb)


def _prepared(conn: sqlite3.Connection, page_cache_mb: int = PAGE_CACHE_MB) -> sqlite3.Connection:
    """A reader's connection, closed again if the file cannot be read."""
    try:
        conn.execute("pragma query_only = on")
        conn.execute(f"pragma cache_size = -{page_cache_mb * 1024}")
    except BaseException:
        conn.close()
        raise
    return conn


def open_writer(
    path: Path,
    migrate: Migrate,
    make: Callable[..., sqlite3.Connection] = sqlite3.Connection,
    page_cache_mb: int = PAGE_CACHE_MB,
) -> sqlite3.Connection:
    """Open, harden and migrate the file; every fault becomes a StorageUnusable."""
    try:
        claim_file(path)
        conn = connect(path, "rw", make)
        try:
            refuse_unusable(conn, path)  # first: the mode of the journal is in the file
            _prepare(conn, path, page_cache_mb)
            migrate(Database(conn, execute_plugins=False))
            if conn.in_transaction:
                raise RuntimeError("the migration left a transaction open")
        except BaseException:
            conn.close()
            raise
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(path, error)) from error
    return conn


def refuse_unusable(conn: sqlite3.Connection, path: Path) -> None:
    """
    Raises:
        StorageUnusable: the file was written by a version whose files this one cannot use.
    """
    try:
        refuse_wrong(Database(conn, execute_plugins=False))
    except WrongSchema as error:
        raise StorageUnusable(f"The database {path} cannot be opened: {error}.") from error


def refuse_foreign(conn: sqlite3.Connection, path: Path) -> None:
    """:func:`refuse_unusable`, for a file from elsewhere: what is in its schema would run here.

    Raises:
        StorageUnusable: it has something that Risala does not make, or lacks something.
    """
    try:
        foreign.refuse_foreign(conn)
    except WrongSchema as error:
        raise StorageUnusable(f"The database {path} cannot be opened: {error}.") from error
    except ForeignSchema as error:
        raise StorageUnusable(
            f"The database {path} is not as Risala makes one: {error}. Use another copy. If you "
            f"changed it yourself, undo that first."
        ) from error


def _prepare(conn: sqlite3.Connection, path: Path, page_cache_mb: int) -> None:
    conn.execute("select count(*) from sqlite_schema").fetchone()  # is it a database at all?
    (mode,) = conn.execute("pragma journal_mode = wal").fetchone()
    if mode != "wal":
        raise StorageUnusable(f"The file system of {path} does not allow SQLite's WAL.")
    for pragma in (
        "synchronous = full",
        "foreign_keys = on",
        "secure_delete = on",  # what is deleted or changed leaves no rest in its page
        f"journal_size_limit = {_WAL_LIMIT_BYTES}",
        f"cache_size = -{page_cache_mb * 1024}",
    ):
        conn.execute(f"pragma {pragma}")
    conn.execute("begin immediate")  # locked or read-only shows here, not at the first message
    conn.execute("rollback")


def storage_sentence(path: Path, error: StorageFailed) -> str:
    """Why the storage failed, if SQLite gave a reason; for readers who may see the path."""
    cause = error.__cause__
    return sqlite_sentence(path, cause) if isinstance(cause, sqlite3.Error) else str(error)


def sqlite_sentence(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", None) or 0
    if code == sqlite3.SQLITE_IOERR_SHMSIZE:  # no space for the -shm
        return f"The disk that holds {path} is full."
    match code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return f"The database {path} is locked by another program."
        case sqlite3.SQLITE_FULL:
            return f"The disk that holds {path} is full."
        case sqlite3.SQLITE_CORRUPT:
            return f"The database {path} is damaged. Restore a backup."
        case sqlite3.SQLITE_NOTADB:
            return f"The file {path} is not a database."
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"The database {path} or its directory cannot be written."
        case sqlite3.SQLITE_IOERR:
            return f"The disk that holds {path} fails: {error}."
    return f"The database {path} cannot be opened: {error}."


_STOPPED: Final = "stopped_in_order_at"
"""The note in a database that the service which had it stopped in order."""


def begin_running(conn: sqlite3.Connection) -> None:
    """A unit: the service runs from now on, and may send."""
    meta.remove(conn, _STOPPED)


def end_in_order(conn: sqlite3.Connection, now_ms: int) -> None:
    """A unit: the service has stopped in order, and all submits are written."""
    meta.put(conn, _STOPPED, str(now_ms))


def stopped_in_order(conn: sqlite3.Connection) -> int | None:
    """When the service stopped in order; None: it runs, or was killed."""
    text = meta.get(conn, _STOPPED)
    return None if text is None else int(text)


def stopped_at(database: Path) -> int | None:
    """When the service that had this database stopped in order (UTC epoch milliseconds); None: it
    runs, was killed, or that cannot be read."""
    with suppress(sqlite3.Error, OSError, StorageUnusable), closing(open_reader(database)) as conn:
        return stopped_in_order(conn)
    return None
