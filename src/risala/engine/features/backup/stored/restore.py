"""Replaces the database with a backup, without sending anything twice unasked.

All work is done on a copy beside the database: checked, migrated to this version's schema, audited,
its open messages ended, audited again. Only then does it replace the database, atomically; the
former one stays beside it. The caller holds the lock of the data directory.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.backup.feature import HeldMessage
from risala.engine.features.backup.stored import held as held_messages
from risala.engine.features.backup.stored.backup import unpacked
from risala.engine.features.backup.stored.former import SetAside, Shown
from risala.engine.journal.audit import heads
from risala.engine.journal.messages import timeline
from risala.engine.journal.messages.endings import cancel, fail
from risala.engine.journal.sealed import resealing
from risala.engine.journal.state import MessageState, load_key
from risala.engine.journal.store.lock import claim_file
from risala.engine.journal.store.opening import (
    begin_running,
    open_reader,
    open_writer,
    refuse_foreign,
    sqlite_sentence,
)
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.sealing_key import OpeningKeys
from risala.engine.journal.upkeep import checksum, database_copy
from risala.engine.journal.upkeep.database_copy import Progress
from risala.engine.journal.upkeep.upgrade.upgrade import bring_over
from risala.engine.model.commands import TimelineEntry
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.feature_work import Duty, RestoredMailings
from risala.engine.model.features import duty, features
from risala.engine.model.lines import Kind, Line
from risala.engine.model.records.messages import HELD_DUE_AT, Stamp
from risala.engine.model.records.upkeep.sealed import LostSecret
from risala.engine.model.records.upkeep.trail import AuditReport
from risala.engine.model.states import Status
from risala.engine.rules.sealing import SealingRing
from risala.sms.cause import Cause

ROWS_AT_ONCE: Final = 500
_TABLES: Final = {"organizations", "messages", "ledger"}

_RESENT: Final = Line(Kind.RESTORED_SENDS)
_GOES_ON: Final = Line(Kind.RESTORED_GOES_ON)
_WAITS: Final = Line(Kind.RESTORED_WAITS)
_UNCERTAIN: Final = Line(Kind.RESTORED_UNCERTAIN)


@dataclass(frozen=True, slots=True)
class RestoreReport:
    database: Path
    set_aside: Path | None
    """The path of the former database now."""
    ended: int
    """Messages that failed, refunded, because they may have been sent since the backup."""
    kept: int
    """Messages left to be sent, or to be settled by their carrier's policy."""
    scheduled: int
    """Messages that are sent at their scheduled time, after the restore."""
    proved: int
    """Messages that go on because they were provably not tried since the backup."""
    canceled: int
    """Messages that were canceled after the backup, and are canceled again."""
    held: int
    """Messages scheduled for later that wait until the operator decides."""
    held_first: tuple[HeldMessage, ...]
    """The earliest of those."""
    mailings: RestoredMailings
    audit: AuditReport
    checked: bool
    """The backup has a checksum, and it is right."""
    lost: tuple[LostSecret, ...]
    """Secrets in it that no sealing key here opens."""


class AlteredBackup(StorageUnusable):
    """The backup differs from its state when it was made."""


class UncleanBackup(StorageUnusable):
    """The books in the backup do not agree."""

    def __init__(self, source: Path, faults: tuple[str, ...]) -> None:
        super().__init__(f"The books in {source} do not agree. The audit found: {faults[0]}.")
        self.faults = faults


def restore(
    source: Path,
    database: Path,
    *,
    resend_pending: bool,
    even_unclean: bool,
    stamp: Callable[[], Stamp],
    progress: database_copy.Progress,
    shown_by: Path | None = None,
    goes_on: bool = False,
    keys: SealingRing | None = None,
) -> RestoreReport:
    """Replace ``database`` with the backup ``source``. Call it in a thread.

    Args:
        shown_by: the database that shows what became of messages since; None: the present one.
        goes_on: the backup has all that was answered and tried: it is as after a crash, and
            nothing in it ends.
        keys: sealing keys that came along, and are not in the data directory yet.

    Raises:
        StorageUnusable: the reason, such as a foreign trigger in it; the database is unchanged.
        AlteredBackup: its checksum differs, and ``even_unclean`` is not set.
        UncleanBackup: the audit found faults, and ``even_unclean`` is not set.
    """
    copy = database.with_name(f"{database.name}.restoring")
    if not source.is_file():
        raise StorageUnusable(f"There is no file {source}.")
    if database.exists() and source.samefile(database):
        raise StorageUnusable(f"{source} is the database itself.")
    checked = add_up(source, progress, even_altered=even_unclean)
    try:
        database_copy.remove(copy)
        claim_file(copy)
        _fetch(source, copy, progress)
        bring_over(copy, progress, lambda: stamp().now_ms, backs_up=False)
        with closing(open_writer(copy, migrate)) as conn:
            before = database_copy.audit_with(conn, progress)
            if before.faults and not even_unclean:
                raise UncleanBackup(source, before.faults)
            with closing(SetAside(shown_by or database, conn)) as set_aside:
                settling = _Settling(conn, set_aside, resend_pending=resend_pending)
                if goes_on:
                    settling.leave()
                    paused = RestoredMailings()
                else:
                    settling.run(stamp, progress)
                    paused = _restored_mailings(conn, set_aside)
            held = tuple(held_messages.held(conn))
            gone = tuple(resealing.lost(conn, OpeningKeys(database.parent, keys)))
            former = heads.end_of(database)
            conn.execute("begin immediate")
            begin_running(conn)  # the mark in the backup is from another time
            _restore_features(conn, goes_on=goes_on)
            heads.note_restore(conn, source, former, stamp().now_ms)
            conn.execute("commit")
            after = database_copy.audit_with(conn, progress)
            if after.faults and not before.faults:
                raise UncleanBackup(source, after.faults)
        moved_to = _swap(copy, database, stamp().now_ms)
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(source, error)) from error
    except OSError as error:
        raise StorageUnusable(f"{database} cannot be replaced: {error.strerror}.") from error
    finally:
        database_copy.remove(copy)
    counts = settling.counts
    return RestoreReport(
        database,
        moved_to,
        ended=counts["ended"],
        kept=counts["kept"],
        scheduled=counts["scheduled"],
        proved=counts["proved"],
        canceled=counts["canceled"],
        held=counts["held"],
        held_first=held,
        mailings=paused,
        audit=after,
        checked=checked,
        lost=gone,
    )


def add_up(source: Path, progress: database_copy.Progress, *, even_altered: bool) -> bool:
    """Compare a backup with the checksum beside it; False if there is no valid one.

    Raises:
        AlteredBackup: it differs, and ``even_altered`` is not set.
        StorageUnusable: it cannot be read.
    """
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
        f"{source} was changed or damaged: its checksum differs from the one in "
        f"{checksum.beside(source)}. Use another backup. --force restores even this one."
    )


def _fetch(source: Path, copy: Path, progress: database_copy.Progress) -> None:
    with closing(open_reader(source)) as conn:
        names = {name for (name,) in conn.execute("select name from sqlite_schema")}
        if not names >= _TABLES:
            raise StorageUnusable(f"{source} is not a backup of Risala.")
        refuse_foreign(conn, source)
        database_copy.copy(conn, copy, progress)
    with closing(open_reader(copy)) as conn:
        database_copy.check(conn, source, progress)


class _Settling:
    """Handles each message that was under way when the backup was made."""

    def __init__(
        self, conn: sqlite3.Connection, set_aside: SetAside, *, resend_pending: bool
    ) -> None:
        self._conn = conn
        self._set_aside = set_aside
        self._resends = resend_pending
        self.counts: Counter[str] = Counter()

    def leave(self) -> None:
        """Change nothing: the service goes on as after a crash."""
        self.counts["kept"] = self._open()

    def _open(self) -> int:
        query = "SELECT count(*) FROM message WHERE status IN (0, 1)"
        (total,) = self._conn.execute(query).fetchone()
        return int(total)

    def run(self, stamp: Callable[[], Stamp], progress: database_copy.Progress) -> None:
        conn, total = self._conn, self._open()
        done = last = 0
        while True:
            progress("settling messages", done, total)
            rows = conn.execute(
                "SELECT key FROM message WHERE status IN (0, 1) AND key > ? ORDER BY key LIMIT ?",
                (last, ROWS_AT_ONCE),
            ).fetchall()
            if not rows:
                return
            conn.execute("begin immediate")
            for (last,) in rows:
                message, now = load_key(conn, last), stamp()
                self.counts[self._see_to(message, now)] += 1
            conn.execute("commit")
            done += len(rows)

    def _see_to(self, message: MessageState, now: Stamp) -> str:
        """The result: the name of a field of :class:`RestoreReport`."""
        shown = Shown.TRIED
        if message.status is Status.PENDING:
            shown = self._set_aside.shows(message)
        if shown is Shown.CANCELED:
            cancel(self._conn, message.id, now)
            return "canceled"
        if message.due_at >= HELD_DUE_AT:
            if not self._resends and shown is not Shown.TRIED:
                return "held"  # as it was in the backup
            self._put_back(message)
        if _is_to_come(message, now.now_ms):
            return self._later(message, shown, now)
        if self._resends:
            self._note(message, _RESENT if message.status is Status.PENDING else _UNCERTAIN, now)
            return "kept"
        if shown is Shown.UNTOUCHED and self._set_aside.stopped_in_order:
            self._note(message, _GOES_ON, now)
            return "proved"
        fail(self._conn, message, Cause.RESTORED, now)
        return "ended"

    def _later(self, message: MessageState, shown: Shown, now: Stamp) -> str:
        if shown is Shown.UNTOUCHED or self._resends:
            self._note(message, _WAITS, now)
            return "scheduled"
        if shown is Shown.UNKNOWN:
            held_messages.hold(self._conn, message, now)
            return "held"
        fail(self._conn, message, Cause.RESTORED, now)
        return "ended"

    def _put_back(self, message: MessageState) -> None:
        assert message.send_at is not None
        message.due_at = message.send_at
        self._conn.execute(
            "UPDATE message SET due_at = ? WHERE key = ?", (message.due_at, message.key)
        )

    def _note(self, message: MessageState, line: Line, now: Stamp) -> None:
        timeline.append(self._conn, message.key, TimelineEntry(now.now_ms, message.status, line))


def _is_to_come(message: MessageState, now_ms: int) -> bool:
    """Whether it is scheduled for later, and was never tried."""
    return (
        message.status is Status.PENDING
        and not message.attempts
        and message.send_at is not None
        and message.send_at > now_ms
    )


def _swap(copy: Path, database: Path, now_ms: int) -> Path | None:
    """Replace the database with the copy; returns where the old one is now.

    At every instant a whole database is in the place: a start in between finds the old or the new
    one, never an empty one, and never the old one's WAL beside the new one.
    """
    set_aside = None
    with open(copy, "rb") as file:
        os.fsync(file.fileno())
    if database.exists():
        moment = datetime.fromtimestamp(now_ms / 1000, UTC)
        set_aside = database.with_name(f"{database.name}.before-restore-{moment:%Y%m%dT%H%M%S.%f}")
        database_copy.fold_wal(database)
        os.link(database, set_aside)
        wal = database.with_name(f"{database.name}-wal")
        if wal.exists():  # it could not be folded in: the old one is damaged, keep both
            wal.rename(set_aside.with_name(f"{set_aside.name}-wal"))
        database.with_name(f"{database.name}-shm").unlink(missing_ok=True)
        database_copy.sync_directory(database.parent)
    copy.replace(database)
    database_copy.sync_directory(database.parent)
    return set_aside


def _restored_mailings(conn: sqlite3.Connection, set_aside: SetAside) -> RestoredMailings:
    restore = duty(Duty.RESTORED)
    return RestoredMailings() if restore is None else restore(conn, set_aside)


def _restore_features(conn: sqlite3.Connection, *, goes_on: bool) -> None:
    for each in features():
        if each.restored is not None and not goes_on:
            each.restored()(conn)


def restore_encrypted(
    identity: Path,
    source: Path,
    database: Path,
    *,
    resend_pending: bool,
    even_unclean: bool,
    stamp: Callable[[], Stamp],
    progress: Progress,
) -> RestoreReport:
    """:func:`restore` from a file that ``back_up_encrypted`` wrote.

    Args:
        identity: the file with the secret key.

    Raises:
        StorageUnusable: the reason; the database and the keys are unchanged.
        AlteredBackup: its checksum differs, and ``even_unclean`` is not set.
    """
    if not source.is_file():
        raise StorageUnusable(f"There is no file {source}.")
    checked = add_up(source, progress, even_altered=even_unclean)
    progress("decrypting", 0, 0)
    with unpacked(source, identity, database.parent) as unpacked_backup:
        report = restore(
            unpacked_backup.database,
            database,
            resend_pending=resend_pending,
            even_unclean=even_unclean,
            stamp=stamp,
            progress=progress,
            keys=unpacked_backup.sealing,
        )
        unpacked_backup.install_keys(database.parent)
    # The cipher proves that the file is whole, and not who made it.
    return replace(report, checked=checked)
