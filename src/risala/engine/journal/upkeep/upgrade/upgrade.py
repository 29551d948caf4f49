"""Bringing a database of an older version over, however many rows it has.

::

    look at the space       too little: refused, nothing is changed
    make a backup           beside the database, whole or not there; checked by SQLite
    short migrations        each in its transaction
    audit                   faults are noted and logged
    the move's migration    renames the old tables, makes the new ones
    move rows, in steps     each in its transaction, which also takes them out of the old tables
    audit                   as many rows, and no fault that was not there before
    remove the old tables   which are empty

Killed at any instant, the next start goes on from there. Nobody else may open the database before
the end: the caller holds the lock of the data directory. What the rows of the old tables say is
never thrown away: it is in the new ones, and in the backup.

**A database whose books did not agree before** is brought over all the same. To refuse would end a
service that ran with those books until yesterday; the faults are in the log and shown by
``risala audit``, which finds them again, and the backup holds the rows as they were.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import structlog
from sqlite_utils import Database

from risala.dataclass import dataclass
from risala.engine.journal.store import meta
from risala.engine.journal.store.opening import (
    open_reader,
    open_writer,
    refuse_unusable,
    sqlite_sentence,
)
from risala.engine.journal.store.schema import migrations as schema
from risala.engine.journal.upkeep import database_copy
from risala.engine.journal.upkeep.upgrade import preparing
from risala.engine.journal.upkeep.upgrade.preparing import Books, UpgradeNote
from risala.engine.model.errors import StorageUnusable

# A change of the tables that is too long for one transaction: rows that move in steps.
#
# Its migration renames the old tables, each to ``old_NAME``, and makes the new ones; it is as short
# as any other. The rows of the old tables are moved afterwards
# (:mod:`risala.engine.journal.upkeep.upgrade.upgrade`). The audit sees by the names that some are
# left.
#
# The books are audited before and after it, both times by the checks of this version. A migration
# that changes the tables of those checks has to bring along the checks for the former tables.


class RowMove(Protocol):
    """Moves rows from old tables into new ones.

    The rows left in the old tables are the remaining work: a step removes what it has moved. So
    nothing else has to be stored, and a step that was rolled back has no effect.
    """

    @property
    def migration(self) -> str:
        """The name of the migration that it completes."""
        ...

    def concerns(self, conn: sqlite3.Connection) -> bool:
        """Before its migration: whether there is anything to move."""
        ...

    def is_unfinished(self, conn: sqlite3.Connection) -> bool:
        """After its migration: whether the old tables still exist."""
        ...

    def remaining(self, conn: sqlite3.Connection) -> int:
        """Rows to move; counted once at each start."""
        ...

    def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
        """Move some rows with everything that belongs to them, in the open transaction.

        Returns how many; 0: none were left. The result of all steps together must not depend on the
        number of rows in each.
        """
        ...

    def finish(self, conn: sqlite3.Connection) -> None:
        """Remove the old tables, which are empty, in the open transaction."""
        ...


# The moves of this version, in the order of their migrations.

MOVES: Final[tuple[RowMove, ...]] = ()
"""None: no released version has rows that this one keeps elsewhere."""


ROWS_AT_ONCE: Final = 500
"""Rows moved by one step: many for one sync, and few enough that a stop waits only briefly and
memory use stays flat."""

_log = structlog.get_logger(__name__)


def is_due(path: Path, moves: Sequence[RowMove] = MOVES) -> bool:
    """Whether a database has rows that must be moved before it can be used.

    Raises:
        StorageUnusable: it cannot be read.
    """
    try:
        if not moves or not path.exists() or not path.stat().st_size:
            return False
        with closing(open_reader(path)) as conn:
            return any(_is_due(conn, move) for move in moves)
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(path, error)) from error


@dataclass(frozen=True, slots=True)
class Forecast:
    """The work of the next start."""

    begun: bool
    """Whether the work continues an earlier start's."""
    need_bytes: int
    """Bytes of free disk."""
    free_bytes: int
    messages: int
    """Rows that are still to be moved, with all that belongs to them."""


def forecast(
    path: Path,
    moves: Sequence[RowMove] = MOVES,
    free_bytes: Callable[[Path], int] = preparing.free_bytes,
) -> Forecast | None:
    """The needs of a database's migration; None if it is not due.

    Raises:
        StorageUnusable: it cannot be read.
    """
    if not is_due(path, moves):
        return None
    try:
        with closing(open_reader(path)) as conn:
            note = preparing.read_note(conn)
            copies = note is None or (
                note.backup is not None and not path.with_name(note.backup).exists()
            )
            need = preparing.need_bytes(conn, copies=copies)
            messages = sum(_left(conn, move) for move in moves if _is_due(conn, move))
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(path, error)) from error
    return Forecast(note is not None, need, free_bytes(path.parent), messages)


def _left(conn: sqlite3.Connection, move: RowMove) -> int:
    if move.migration in schema.applied(Database(conn, execute_plugins=False)):
        return move.remaining(conn)
    (count,) = conn.execute("SELECT count(*) FROM messages").fetchone()
    return int(count)


def pending(path: Path) -> list[str]:
    """The migrations that the next start makes, in their order.

    Raises:
        StorageUnusable: it cannot be read, or this version cannot use it.
    """
    try:
        with closing(open_reader(path)) as conn:
            refuse_unusable(conn, path)
            done = schema.applied(Database(conn, execute_plugins=False))
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(path, error)) from error
    return [name for name in schema.known() if name not in done]


def bring_over(
    path: Path,
    progress: database_copy.Progress,
    now_ms: Callable[[], int],
    *,
    moves: Sequence[RowMove] = MOVES,
    backs_up: bool = True,
    free_bytes: Callable[[Path], int] = preparing.free_bytes,
) -> None:
    """Migrate a database; does nothing if :func:`is_due` says no. Call it in a thread.

    What ``progress`` raises ends it, between two steps or within a long statement.

    Raises:
        StorageUnusable: why not, and what to do; the next start goes on from where it was.
    """
    if not is_due(path, moves):
        return
    try:
        with closing(open_writer(path, schema.refuse_wrong)) as conn:
            for move in moves:
                if _is_due(conn, move):
                    _Upgrade(path, conn, move, progress).run(now_ms, backs_up, free_bytes)
    except sqlite3.Error as error:
        raise StorageUnusable(_sentence(path, error)) from error


def _is_due(conn: sqlite3.Connection, move: RowMove) -> bool:
    if move.migration in schema.applied(Database(conn, execute_plugins=False)):
        return move.is_unfinished(conn)
    return move.concerns(conn)


@dataclass(frozen=True, slots=True)
class _Upgrade:
    path: Path
    conn: sqlite3.Connection
    move: RowMove
    progress: database_copy.Progress

    def run(
        self, now_ms: Callable[[], int], backs_up: bool, free_bytes: Callable[[Path], int]
    ) -> None:
        note = preparing.read_note(self.conn)
        if self._is_before():
            note = self._begin(note, now_ms(), backs_up, free_bytes)
        if note is None:  # it was migrated in another way: there is nothing to compare with
            note = UpgradeNote(self.move.migration, None)
            _log.warning("upgrade.unnoted", migration=note.migration)
        note = self._move(note)
        self._look_again(note)
        with self._transaction():
            self.move.finish(self.conn)
            meta.remove(self.conn, preparing.UNDER_WAY)
            preparing.write_note(self.conn, note, preparing.DONE)
        self.conn.execute("pragma wal_checkpoint(truncate)")
        _log.info("upgrade.done", migration=note.migration, backup=note.backup)

    def _is_before(self) -> bool:
        return self.move.migration not in schema.applied(self._database)

    @property
    def _database(self) -> Database:
        return Database(self.conn, execute_plugins=False)

    # -- before the move

    def _begin(
        self,
        note: UpgradeNote | None,
        now_ms: int,
        backs_up: bool,
        free_bytes: Callable[[Path], int],
    ) -> UpgradeNote:
        """All work before the first row is moved, or the rest of it after a crash."""
        if note is None or note.migration != self.move.migration:
            note = UpgradeNote(self.move.migration, self._backup_name(now_ms) if backs_up else None)
        copies = note.backup is not None and not self.path.with_name(note.backup).exists()
        need = preparing.need_bytes(self.conn, copies=copies)
        preparing.refuse_too_little(self.path, need, free_bytes(self.path.parent))
        with self._transaction():  # first, so that a start after a crash finds the copy by its name
            preparing.write_note(self.conn, note)
        if copies:
            _log.info("upgrade.backup", file=note.backup)
            assert note.backup is not None
            database_copy.set_aside(
                self.path, self.path.with_name(note.backup), self.progress, _without_note
            )
        self._migrate(before=self.move.migration)
        note = replace(note, books=self._books())
        assert note.books is not None
        if note.books.faults:
            faults = note.books.faults
            _log.warning("upgrade.faults", count=len(faults), first=faults[0], backup=note.backup)
        with self._transaction():
            preparing.write_note(self.conn, note)
        self._migrate(before=schema.following(self.move.migration))
        return note

    def _migrate(self, before: str | None) -> None:
        with database_copy.interruptible(
            self.conn, partial(self.progress, "changing tables", 0, 0)
        ):
            schema.migrate(self._database, before=before)

    def _backup_name(self, now_ms: int) -> str:
        """An unused name: by the migration, and by the time."""
        number = self.move.migration.partition("_")[0]
        moment = datetime.fromtimestamp(now_ms / 1000, UTC)
        return f"{self.path.stem}-before-{number}-{moment:%Y%m%dT%H%M%S}.db"

    def _books(self) -> Books:
        report = database_copy.audit_with(self.conn, self.progress)
        return Books(report.organizations, report.messages, report.entries, report.faults)

    # -- the move

    def _move(self, note: UpgradeNote) -> UpgradeNote:
        left = self.move.remaining(self.conn)
        if note.total is None:
            note = replace(note, total=left)
            with self._transaction():
                preparing.write_note(self.conn, note)
        total = max(note.total or 0, left)
        _log.info("upgrade.moving", migration=note.migration, done=total - left, total=total)
        while True:
            tell = partial(self.progress, "moving rows", total - left, total)
            tell()
            with database_copy.interruptible(self.conn, tell), self._transaction():
                moved = self.move.step(self.conn, ROWS_AT_ONCE)
            if not moved:
                return note
            left = max(left - moved, 0)

    # -- after the move

    def _look_again(self, note: UpgradeNote) -> None:
        """
        Raises:
            StorageUnusable: the books do not say what they said before.
        """
        if note.books is None:
            return
        after = self._books()
        before = note.books
        counts = ("organizations", "messages", "entries")
        wrong = [
            f"{name}: {getattr(before, name)} before, {getattr(after, name)} after"
            for name in counts
            if getattr(before, name) != getattr(after, name)
        ]
        wrong += _new_faults(before, after)
        if wrong:
            raise StorageUnusable(
                f"{self.path} was brought over, and its books do not say what they said before "
                f"({wrong[0]}). Go on with the version before this one and with {note.backup}, "
                "and report this: it is a fault of ours."
            )

    # -- how

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self.conn.execute("begin immediate")
        try:
            yield
            self.conn.execute("commit")
        except BaseException:
            if self.conn.in_transaction:
                self.conn.rollback()
            raise


def _new_faults(before: Books, after: Books) -> list[str]:
    """Faults that are new. An audit shows only so many of a kind, and any of them."""
    new = [fault for fault in after.faults if fault not in before.faults]
    return new if len(after.faults) > len(before.faults) or not before.faults else []


def _sentence(path: Path, error: sqlite3.Error) -> str:
    sentence = sqlite_sentence(path, error)
    if (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF == sqlite3.SQLITE_FULL:
        return f"{sentence} Make room and start again: it goes on from where it was."
    return sentence


def _without_note(copy: sqlite3.Connection) -> None:
    """The copy is the former database: no upgrade has begun in it."""
    copy.execute("begin")
    meta.remove(copy, preparing.UNDER_WAY)
    copy.execute("commit")
