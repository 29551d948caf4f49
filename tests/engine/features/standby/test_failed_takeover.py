"""Each call of a takeover fails once: what the stores are asked, each sync and new name of a file,
each statement to the database that is made ready. The next try takes over, with all that was there.

``CALLS_EVERY=1`` tries every call; without it every few of them are.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import trio
from tests.engine.features.standby.test_failed_calls import EVERY, FILES, Calls, broken, tried
from tests.engine.features.standby.test_takeover import TERM_S, Stands, ship, stopped

from risala.engine.features.standby.lease import LeaseDirectory, LeaseTaken, held
from risala.engine.features.standby.lease_watch import PrimaryAlive
from risala.engine.features.standby.stored.copy import StandbyCopy
from risala.engine.features.standby.stored.notes import BadPiece
from risala.engine.features.standby.stored.piece_store import PieceDirectory
from risala.engine.features.standby.takeover import Takeover
from risala.engine.journal.audit.books import audit
from risala.engine.journal.store import opening
from risala.engine.journal.store.opening import open_reader, open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model.errors import StorageUnusable

STORES = (
    *((LeaseDirectory, name) for name in ("highest", "before", "take", "renew")),
    *((PieceDirectory, name) for name in ("current", "fetch", "read", "shipped", "is_awaited")),
)
NAMES = ((os, "link"), (Path, "replace"), (Path, "rename"), (Path, "unlink"))
SAID = (StorageUnusable, OSError, BadPiece, PrimaryAlive, LeaseTaken)
"""What `risala standby takeover` and `watch` know how to say."""


@contextmanager
def statements(calls: Calls):
    """Each statement is a call too."""

    def error() -> sqlite3.OperationalError:
        made = sqlite3.OperationalError(os.strerror(errno.EIO))
        made.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        return made

    class Failing(sqlite3.Connection):
        def execute(self, sql, *given):
            return calls.over(sql.split()[0], super().execute, error)(sql, *given)

        def backup(self, *given, **named):
            return calls.over("backup", super().backup, error)(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        for opens in (opening.connect, opening.open_writer):
            made = (Failing, *opens.__defaults__[1:])  # what they make unless they are told
            patch.setattr(opens, "__defaults__", made)
        yield


@dataclass
class Scene:
    """A primary that is gone, and a standby, which may have served before."""

    folder: Path
    shipped: Path
    at: int
    served_before: bool

    def __post_init__(self) -> None:
        (self.folder / "lease").mkdir(parents=True)
        self.lease = LeaseDirectory(self.folder / "lease")
        self.lease.take("primary", TERM_S, 0, self.at, 1)
        self.tries = 0
        self.standby = self.folder / "standby"
        self.standby.mkdir()
        self.database = self.standby / "risala.db"
        if self.served_before:
            open_writer(self.database, migrate).close()

    def take_over(self) -> None:
        self.tries += 1
        spans = iter(range(0, 100_000, 100))
        Takeover(
            copy=StandbyCopy(self.standby, PieceDirectory(self.shipped)),
            data_dir=self.standby,
            database=self.database,
            lease=self.lease,
            term_s=TERM_S,
            clock=Stands(self.at + 10_000 * self.tries),
            progress=lambda step, done, total: None,
            sleep=lambda span_s: None,
            span_s=lambda: float(next(spans)),
        ).run(primary_is_dead=False, resend_pending=False)

    def fails_once(self, calls: Calls) -> None:
        with calls.on(*FILES, *NAMES, *STORES, error=broken), statements(calls):
            calls.is_armed = True
            try:
                self.take_over()
            finally:
                calls.is_armed = False

    def books(self) -> dict[str, str]:
        """The messages that are there, each with its state."""
        with closing(open_reader(self.database)) as conn:
            assert audit(conn).faults == ()
            return dict(conn.execute("SELECT id, status FROM messages").fetchall())

    def entries(self) -> int:
        with closing(open_reader(self.database)) as conn:
            query = "SELECT count(*) FROM audit_log WHERE action = 'standby.takeover'"
            return conn.execute(query).fetchone()[0]


@pytest.mark.slow
@pytest.mark.parametrize("served_before", [False, True], ids=["first time", "served before"])
async def test_the_next_try_takes_over(open_house, tmp_path, served_before):
    ids, at = await stopped(open_house, tmp_path)
    shipped = tmp_path / "shipped"
    ship(tmp_path / "risala.db", shipped)

    def scene(name: str) -> Scene:
        return Scene(tmp_path / name, shipped, at, served_before)

    def each() -> None:
        reference, whole = scene("whole"), Calls()
        reference.fails_once(whole)
        expected = reference.books()
        assert set(expected) == set(ids.values())
        assert len(whole.names) > 80
        assert {"commit", "insert", "backup"} <= {name.lower() for name in whole.names}
        for number, way in tried(len(whole.names))[:: min(EVERY, 4)]:
            where = f"call {number}, {whole.names[number]}, {way}"
            one = scene(f"{number}-{way}")
            with suppress(*SAID):
                one.fails_once(Calls(number, way))
            if one.database.exists():  # whatever is there is whole
                assert one.books() in ({}, expected), where
            if not held(one.standby).serves:
                one.take_over()
            assert held(one.standby).serves, where
            assert one.lease.highest().holder == held(one.standby).holder, where
            assert one.books() == expected, where
            assert one.entries() >= 1, where
            left = {path.name.split(".before-restore-")[0] for path in one.standby.iterdir()}
            assert not {name for name in left if "restoring" in name or "takeover" in name}, where
            shutil.rmtree(one.folder)

    await trio.to_thread.run_sync(each)
