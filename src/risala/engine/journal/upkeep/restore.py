"""Putting a backup in the place of the database, without sending anything twice unasked.

Everything is done to a copy beside the database: checked, brought up to this version's schema,
audited, its open messages ended, audited again. Only then, at one stroke, does it take the
database's place; what was there stays beside it. The caller holds the lock of the data directory.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.endings import fail
from risala.engine.journal.rows import Stamp
from risala.engine.journal.state import MessageState, load_key
from risala.engine.journal.store.lock import StorageUnusable, claim_file
from risala.engine.journal.store.opening import connect, open_reader, open_writer, sqlite_sentence
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.upkeep import backup, checksum
from risala.engine.journal.upkeep.upgrade.upgrade import bring_over
from risala.engine.model.commands import AuditReport, TimelineEntry
from risala.engine.model.lines import Kind, Line
from risala.engine.model.numbers import STATUSES
from risala.engine.model.states import Status
from risala.sms.cause import Cause

ROWS_AT_ONCE: Final = 500
_TABLES: Final = {"organizations", "messages", "ledger"}

_RESENT: Final = Line(Kind.RESTORED_SENDS)
_WAITS: Final = Line(Kind.RESTORED_WAITS)
_UNCERTAIN: Final = Line(Kind.RESTORED_UNCERTAIN)


@dataclass(frozen=True, slots=True)
class RestoreReport:
    database: Path
    set_aside: Path | None
    """Where the database that was there is now."""
    ended: int
    """Messages that failed, refunded, because they may have been sent since the backup."""
    kept: int
    """Messages left to be sent, or to be settled by their carrier's policy."""
    scheduled: int
    """Messages that are sent when they were scheduled, after the restore."""
    audit: AuditReport
    checked: bool
    """There was a checksum beside the backup, and it is right."""


class AlteredBackup(StorageUnusable):
    """The backup is not what it was when it was made."""


class UncleanBackup(StorageUnusable):
    """The books in the backup do not agree."""

    def __init__(self, source: Path, faults: tuple[str, ...]) -> None:
        super().__init__(f"The books in {source} do not agree; the audit found: {faults[0]}.")
        self.faults = faults


def restore(
    source: Path,
    database: Path,
    *,
    resend_pending: bool,
    even_unclean: bool,
    stamp: Callable[[], Stamp],
    progress: backup.Progress,
) -> RestoreReport:
    """Put the backup ``source`` in the place of ``database``. Call it in a thread.

    Raises:
        StorageUnusable: why not; the database is as it was.
        AlteredBackup: its checksum is another, and ``even_unclean`` is not said.
        UncleanBackup: the audit found faults, and ``even_unclean`` is not said.
    """
    copy = database.with_name(f"{database.name}.restoring")
    if not source.is_file():
        raise StorageUnusable(f"There is no file {source}.")
    if database.exists() and source.samefile(database):
        raise StorageUnusable(f"{source} is the database itself.")
    checked = _add_up(source, progress, even_altered=even_unclean)
    try:
        backup.remove(copy)
        claim_file(copy)
        _fetch(source, copy, progress)
        bring_over(copy, progress, lambda: stamp().now_ms, backs_up=False)
        with closing(open_writer(copy, migrate)) as conn:
            before = backup.audit_with(conn, progress)
            if before.faults and not even_unclean:
                raise UncleanBackup(source, before.faults)
            with closing(_Untouched(database)) as untouched:
                settle = _keep if resend_pending else _end
                count, scheduled = _settle(conn, settle, untouched, stamp, progress)
            after = backup.audit_with(conn, progress)
            if after.faults and not before.faults:
                raise UncleanBackup(source, after.faults)
        set_aside = _swap(copy, database, stamp().now_ms)
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(source, error)) from error
    except OSError as error:
        raise StorageUnusable(f"{database} cannot be replaced: {error.strerror}.") from error
    finally:
        backup.remove(copy)
    ended, kept = (0, count) if resend_pending else (count, 0)
    return RestoreReport(database, set_aside, ended, kept, scheduled, after, checked)


def _add_up(source: Path, progress: backup.Progress, *, even_altered: bool) -> bool:
    """Compare a backup with the checksum beside it; False where there is none to trust."""
    try:
        expected = checksum.expected(source)
        if expected is None or checksum.of_file(source, progress) == expected:
            return expected is not None
    except checksum.UnreadableChecksum as error:
        if even_altered:
            return False
        raise AlteredBackup(str(error)) from error
    except OSError as error:
        raise StorageUnusable(f"{source} cannot be read: {error.strerror}.") from error
    if even_altered:
        return False
    raise AlteredBackup(
        f"{source} is not what it was: its checksum is another than {checksum.beside(source)} "
        "says. Take another backup; --force restores even this one."
    )


def _fetch(source: Path, copy: Path, progress: backup.Progress) -> None:
    with closing(open_reader(source)) as conn:
        names = {name for (name,) in conn.execute("select name from sqlite_schema")}
        if not names >= _TABLES:
            raise StorageUnusable(f"{source} is not a backup of Risala.")
        backup.copy(conn, copy, progress)
    with closing(open_reader(copy)) as conn:
        backup.check(conn, source, progress)


def _settle(
    conn: sqlite3.Connection,
    settle: Callable[[sqlite3.Connection, MessageState, Stamp], None],
    untouched: _Untouched,
    stamp: Callable[[], Stamp],
    progress: backup.Progress,
) -> tuple[int, int]:
    """See to each message that was on its way; how many were settled, and how many wait for a time
    that is still to come."""
    (total,) = conn.execute("SELECT count(*) FROM message WHERE status IN (0, 1)").fetchone()
    done = last = scheduled = 0
    while True:
        progress("settling messages", done, total)
        rows = conn.execute(
            "SELECT key FROM message WHERE status IN (0, 1) AND key > ? ORDER BY key LIMIT ?",
            (last, ROWS_AT_ONCE),
        ).fetchall()
        if not rows:
            return done - scheduled, scheduled
        conn.execute("begin immediate")
        for (last,) in rows:
            message, now = load_key(conn, last), stamp()
            if _is_to_come(message, now.now_ms) and untouched.shows(message):
                scheduled += 1
                entry = TimelineEntry(now.now_ms, message.status, _WAITS)
                timeline.append(conn, message.key, entry)
            else:
                settle(conn, message, now)
        conn.execute("commit")
        done += len(rows)


def _is_to_come(message: MessageState, now_ms: int) -> bool:
    """Whether it is scheduled for later, and nothing of it was tried."""
    return (
        message.status is Status.PENDING
        and not message.attempts
        and message.send_at is not None
        and message.send_at > now_ms
    )


class _Untouched:
    """What the database that is about to be set aside knows of scheduled messages."""

    def __init__(self, database: Path) -> None:
        self._conn: sqlite3.Connection | None = None
        with suppress(sqlite3.Error, OSError, StorageUnusable):
            if database.exists():
                self._conn = open_reader(database)

    def close(self) -> None:
        if self._conn is not None:
            self._conn.close()

    def shows(self, message: MessageState) -> bool:
        """Whether it shows that a message has neither left nor been canceled; False also where it
        cannot be read, or has no such message."""
        if self._conn is None:
            return False
        query = "SELECT id, status, attempts, send_at FROM message WHERE key = ?"
        try:
            found = self._conn.execute(query, (message.key,)).fetchone()
        except sqlite3.Error:
            return False  # it is damaged: what it does not show is not known
        pending = STATUSES.number(Status.PENDING)
        return found is not None and tuple(found) == (message.id, pending, 0, message.send_at)


def _end(conn: sqlite3.Connection, message: MessageState, stamp: Stamp) -> None:
    fail(conn, message, Cause.RESTORED, stamp)


def _keep(conn: sqlite3.Connection, message: MessageState, stamp: Stamp) -> None:
    line = _RESENT if message.status is Status.PENDING else _UNCERTAIN
    timeline.append(conn, message.key, TimelineEntry(stamp.now_ms, message.status, line))


def _swap(copy: Path, database: Path, now_ms: int) -> Path | None:
    """Let the copy take the database's place; where the old one is now.

    At every instant there is a whole database in the place: a start in between finds the old or
    the new one, never an empty one, and never the old one's WAL beside the new one.
    """
    set_aside = None
    with open(copy, "rb") as file:
        os.fsync(file.fileno())
    if database.exists():
        moment = datetime.fromtimestamp(now_ms / 1000, UTC)
        set_aside = database.with_name(f"{database.name}.before-restore-{moment:%Y%m%dT%H%M%S.%f}")
        _fold_wal(database)
        os.link(database, set_aside)
        wal = database.with_name(f"{database.name}-wal")
        if wal.exists():  # it could not be folded in: the old one is damaged, keep what there is
            wal.rename(set_aside.with_name(f"{set_aside.name}-wal"))
        database.with_name(f"{database.name}-shm").unlink(missing_ok=True)
        backup.sync_directory(database.parent)
    copy.replace(database)
    backup.sync_directory(database.parent)
    return set_aside


def _fold_wal(database: Path) -> None:
    try:
        with closing(connect(database, "rw")) as conn:
            conn.execute("pragma wal_checkpoint(truncate)")
    except sqlite3.Error:
        return  # it stays as it is
