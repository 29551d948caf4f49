"""A copy of the database, taken while the service writes: of one instant, checked, atomic.

Why SQLite's backup interface inside one read transaction: for 176 MB under a steady write load it
took 0.5 s and no commit waited for it. Without the held transaction every commit of the other
process restarts the copy (2,500 times in 20 s, and it never ended); ``VACUUM INTO`` is as
consistent and took 6 s, because it builds every index again. With all of them the WAL grows until
the copy is done.

A reader in another process is safe beside the writer: it never writes the database or its WAL and
never folds the WAL in; it only marks in the shared memory (``-shm``) which instant it reads.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

from risala.engine.journal.audit.books import audit
from risala.engine.journal.store.lock import claim_file
from risala.engine.journal.store.opening import connect, open_reader, sqlite_sentence
from risala.engine.journal.upkeep import checksum
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.records.upkeep.trail import AuditReport

PAGES_AT_ONCE: Final = 256
"""1 MiB between two checks for a wish to end."""
STEPS_BETWEEN_LOOKS: Final = 100_000
"""SQLite's instructions between two such checks while it examines: some milliseconds."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called often with the present action, its progress, and its total (0: unknown). An exception from
it ends the work, and nothing is kept."""


def unheard(step: str, done: int, total: int) -> None:
    """For progress that nobody is shown."""


def set_aside(
    database: Path,
    target: Path,
    progress: Progress,
    prepare: Callable[[sqlite3.Connection], None],
) -> None:
    """A copy of a database of any version, with its checksum, without a check of its books.

    ``prepare`` may change the copy before it gets its name.

    Raises:
        StorageUnusable: it could not be read or written, or the copy is damaged.
    """

    def inspect(partial: Path) -> None:
        with closing(connect(partial, "rw")) as conn:
            prepare(conn)
            check(conn, database, progress)

    write_copy(database, target, progress, inspect)


def write_copy(
    database: Path, target: Path, progress: Progress, inspect: Callable[[Path], None]
) -> tuple[int, str]:
    """Write a copy and its checksum; returns its size and that.

    ``inspect`` may end it by raising.
    """
    partial = target.with_name(f"{target.name}.partial")
    if target.exists() and target.samefile(database):
        raise StorageUnusable(f"{target} is the database itself.")
    try:
        with _exclusive(partial) as descriptor:
            try:
                with closing(open_reader(database)) as source:
                    copy(source, partial, progress)
                inspect(partial)
                os.fsync(descriptor)
                size_bytes = os.fstat(descriptor).st_size
                sha256 = checksum.of_file(partial, progress)
                checksum.forget(target)  # else a crash here leaves it beside another file
                partial.replace(target)
                checksum.write(target, sha256)
                sync_directory(target.parent)
            finally:
                remove(partial)
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(database, error)) from error
    except OSError as error:
        raise StorageUnusable(f"{target} cannot be written: {error.strerror}.") from error
    return size_bytes, sha256


def copy(source: sqlite3.Connection, target: Path, progress: Progress) -> None:
    """Copy the database's state of this instant into an empty file, self-contained: no WAL."""
    source.execute("begin")
    source.execute("select 1 from sqlite_schema").fetchone()  # from here on, this instant
    (pages,) = source.execute("pragma page_count").fetchone()
    (page_bytes,) = source.execute("pragma page_size").fetchone()
    free = shutil.disk_usage(target.parent).free
    if free < pages * page_bytes:
        raise StorageUnusable(
            f"{target.parent} has {free // 1_000_000} MB free, but the copy needs "
            f"{pages * page_bytes // 1_000_000} MB."
        )

    def step(_: int, remaining: int, total: int) -> None:
        progress("copying", total - remaining, total)

    with closing(connect(target, "rw")) as into:
        # Half a copy is deleted, so it needs no journal and no syncs.
        into.execute("pragma journal_mode = off")
        into.execute("pragma synchronous = off")
        source.backup(into, pages=PAGES_AT_ONCE, progress=step, sleep=0)
    source.execute("rollback")
    with closing(connect(target, "rw")) as into:
        # The copied header says WAL; as one plain file it can be read from a read-only disk too.
        into.execute("pragma journal_mode = delete")


def check(conn: sqlite3.Connection, path: Path, progress: Progress) -> None:
    """Let SQLite examine the whole file.

    Raises:
        StorageUnusable: it is damaged.
    """
    with interruptible(conn, lambda: progress("checking", 0, 0)):
        (verdict,) = conn.execute("pragma integrity_check(1)").fetchone()
    if verdict != "ok":
        words = " ".join(str(verdict).replace("*** in database main ***", "").split())
        raise StorageUnusable(f"The database {path} is damaged: {words}.")


def audit_with(conn: sqlite3.Connection, progress: Progress) -> AuditReport:
    """The audit, which ``progress`` may end."""
    with interruptible(conn, lambda: progress("auditing", 0, 0)):
        return audit(conn)


@contextmanager
def interruptible(conn: sqlite3.Connection, inspect: Callable[[], None]) -> Iterator[None]:
    """Call ``look`` repeatedly while a statement runs; an exception from it ends the statement."""
    raised: list[BaseException] = []

    def handler() -> int:
        try:
            inspect()
        except BaseException as error:  # noqa: BLE001 -- raised below, on this side of SQLite
            raised.append(error)
        return len(raised)

    conn.set_progress_handler(handler, STEPS_BETWEEN_LOOKS)
    try:
        yield
    except sqlite3.OperationalError:
        if raised:
            raise raised[0] from None
        raise
    finally:
        conn.set_progress_handler(None, 0)


def remove(path: Path) -> None:
    """Remove a database file and SQLite's files beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Make renames in a directory durable."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _exclusive(partial: Path) -> Iterator[int]:
    """An empty private file, whatever an interrupted backup left; its descriptor."""
    claim_file(partial)
    descriptor = os.open(partial, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageUnusable(f"Another backup is writing {partial}.") from None
        os.ftruncate(descriptor, 0)
        yield descriptor
    finally:
        os.close(descriptor)


def fold_wal(database: Path) -> None:
    """Bring what is in the write-ahead log into the file; a damaged one stays as it is."""
    try:
        with closing(connect(database, "rw")) as conn:
            conn.execute("pragma wal_checkpoint(truncate)")
    except sqlite3.Error:
        return
