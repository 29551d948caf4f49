"""Rows that move in steps: killed at any instant, what comes of it in the end is the same."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from sqlite_utils import Database

import stones
from risala.engine.features.backup.stored import restore
from risala.engine.features.backup.stored.backup import back_up
from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema import migrations
from risala.engine.journal.upkeep import database_copy
from risala.engine.journal.upkeep.upgrade import preparing, upgrade
from risala.engine.journal.upkeep.upgrade.upgrade import bring_over, is_due
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.records.messages import Stamp
from stones import LATER, MIGRATION, StonesMove, write_stones

STONES = 1700
"""Four steps, the last of them short."""
NOW_MS = 1_767_225_600_000
MiB = 1024 * 1024


class KilledError(Exception):
    """In the tests' own hands: what a power cut is to a process."""


def silent(*_: object) -> None:
    pass


def now_ms() -> int:
    return NOW_MS


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch) -> None:
    """As with a large file: in this one nothing lasts."""
    monkeypatch.setattr(database_copy, "STEPS_BETWEEN_LOOKS", 500)


@pytest.fixture(autouse=True)
def _migrations() -> Iterator[None]:
    with stones.migrations():
        yield


@pytest.fixture
def old(tmp_path) -> Path:
    """A database of a version before, with stones in it."""
    path = tmp_path / "risala.db"
    write_stones(path, STONES)
    return path


def bring(path: Path, progress: database_copy.Progress = silent, **more) -> None:
    bring_over(path, progress, now_ms, **{"moves": [StonesMove()], **more})


def contents(path: Path) -> dict[str, list[tuple]]:
    """All rows of all tables, but for when each migration ran."""
    with closing(sqlite3.connect(path)) as conn:
        names = [
            row[0] for row in conn.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        found = {name: sorted(conn.execute(f"SELECT * FROM {name}"), key=str) for name in names}
    found["_sqlite_migrations"] = sorted(row[2] for row in found["_sqlite_migrations"])
    return found


def read(path: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as conn:
        return conn.execute(query).fetchall()


def backups(path: Path) -> list[Path]:
    return sorted(path.parent.glob("risala-before-*.db"))


def test_what_is_due_is_brought_over_once(old):
    told: list[tuple[str, int, int]] = []
    assert is_due(old, [StonesMove()])
    bring(old, lambda *what: told.append(what))
    assert not is_due(old, [StonesMove()])
    found = contents(old)
    assert found["polished"] == sorted(
        ((n, f"polished stone {n}") for n in range(1, STONES + 1)), key=str
    )
    assert not found.keys() & {"heap", "old_heap"}
    known = migrations.known()
    assert found["_sqlite_migrations"] == sorted(known[: known.index(MIGRATION) + 1])
    assert known[-1] == LATER, "a short one like the others: it is left to who opens the file"
    steps = [*dict.fromkeys(what for what, _, _ in told)]
    assert steps == [
        "copying",
        "checking",
        "adding up",
        "changing tables",
        "auditing",
        "moving rows",
    ]
    moved = [done for what, done, total in told if (what, total) == ("moving rows", STONES)]
    assert [*dict.fromkeys(moved)] == [0, 500, 1000, 1500, 1700]
    before = contents(old)
    bring(old)
    assert contents(old) == before


def test_the_copy_is_the_database_as_it_was_and_its_owners_alone(old):
    before = contents(old)
    bring(old)
    [copy] = backups(old)
    assert copy.name == "risala-before-v9.1-20260101T000000.db"
    assert contents(copy) == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    digest, name = copy.with_name(f"{copy.name}.sha256").read_text().split()
    assert (digest, name) == (hashlib.sha256(copy.read_bytes()).hexdigest(), copy.name)
    # Whoever goes back to it and comes again later gets a copy of what there is then.
    shutil.copy(copy, old)
    bring_over(old, silent, lambda: NOW_MS + 60_000, moves=[StonesMove()])
    assert len(backups(old)) == 2


def test_a_file_without_such_rows_and_no_file_have_none_of_it(old, tmp_path):
    bring(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    with closing(sqlite3.connect(old)) as conn, conn:
        conn.execute("DROP TABLE heap")
    bring(old)
    assert backups(old) == []


def test_too_little_space_is_told_with_both_numbers_before_anything_is_done(old):
    before, size = contents(old), old.stat().st_size
    words = r"takes (\d+) MB of free disk, and .* has 100: make room, then start again"
    with pytest.raises(StorageUnusable, match=words):
        bring(old, free_bytes=lambda _: 100_000_000)
    assert contents(old) == before
    assert backups(old) == []
    bring(old, free_bytes=lambda _: preparing.SPARE_BYTES + 2 * size)


def snapshot(path: Path, into: Path) -> None:
    """What a power cut leaves: the database, its journal, and whatever lies beside them."""
    into.mkdir()
    for each in path.parent.iterdir():
        if each.is_file() and not each.name.endswith("-shm"):
            shutil.copy(each, into / each.name)


@pytest.mark.slow
def test_what_comes_of_it_does_not_depend_on_how_long_the_steps_are(old, tmp_path, monkeypatch):
    found = []
    for rows_at_once in (500, 7):
        monkeypatch.setattr(upgrade, "ROWS_AT_ONCE", rows_at_once)
        path = tmp_path / str(rows_at_once) / "risala.db"
        path.parent.mkdir()
        shutil.copy(old, path)
        bring(path)
        found.append(contents(path))
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("every", "cuts_min"), [(311, 20), pytest.param(83, 40, marks=pytest.mark.long)]
)
def test_killed_at_any_instant_it_goes_on_and_comes_to_the_same(old, tmp_path, every, cuts_min):
    """Every look that somebody takes, and every so many statements of the steps."""
    cuts: list[Path] = []
    calls = 0

    def cut(*_: object) -> None:
        nonlocal calls
        calls += 1
        if calls % every == 0 or calls < 12:
            cuts.append(tmp_path / f"cut{calls}")
            snapshot(old, cuts[-1])

    kept = tmp_path / "kept"
    snapshot(old, kept)
    bring(old, cut, moves=[StonesMove(statements=cut)])
    expected = contents(old)
    assert len(cuts) > cuts_min
    for each in [kept, *cuts]:
        path = each / old.name
        bring(path)
        found = contents(path)
        assert found == expected, each
        assert len(backups(path)) == 1
        assert not list(each.glob("*.partial"))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["copying", "checking", "adding up", "auditing", "moving rows"])
def test_an_order_to_stop_ends_it_cleanly_wherever_it_is(old, what):
    """As the service's own stop does: what ``progress`` raises comes out, and the file is well."""
    stops = 0

    def stop(doing: str, *_: int) -> None:
        nonlocal stops
        if doing == what and stops < 2:
            stops += 1
            raise KilledError

    for _ in range(2):
        with pytest.raises(KilledError):
            bring(old, stop)
        with closing(sqlite3.connect(old)) as conn:
            assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    bring(old)
    assert len(contents(old)["polished"]) == STONES
    assert len(backups(old)) == 1


def test_books_that_did_not_agree_are_brought_over_and_told(old):
    """An operator's file may be wrong: its faults are told again, nothing is made up for them."""
    with closing(sqlite3.connect(old)) as conn, conn:
        conn.execute("UPDATE organizations SET balance = balance + 7")
        conn.execute("INSERT INTO line (message, n, at, kind) VALUES (7, 1, 0, 1)")
        conn.execute("DELETE FROM entry WHERE seq = (SELECT max(charge) FROM message)")
        conn.execute("UPDATE message SET sender = 9999 WHERE key = (SELECT max(key) FROM message)")
    faults = audit_file(old).faults
    assert len(faults) >= 4
    bring(old)
    with closing(sqlite3.connect(old)) as conn:
        done = preparing.read_note(conn, preparing.DONE)
    assert done is not None
    assert done.books is not None
    assert done.books.faults == faults
    assert any("its balance is" in fault for fault in faults)
    assert audit_file(old).faults == faults


@dataclass
class CarelessMove(StonesMove):
    def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
        conn.execute("UPDATE organizations SET balance = balance + 1")
        return super().step(conn, rows_max)


def test_books_that_agreed_and_do_not_any_more_are_refused_at_each_start(old):
    """The rows that were moved stay as they are, and so does the copy: somebody must look."""
    for _ in range(2):
        with pytest.raises(StorageUnusable, match=r"before this one and with risala-before-v9.1"):
            bring(old, moves=[CarelessMove()])
    assert len(backups(old)) == 1
    assert "old_heap" in contents(old)


@dataclass
class CrampedMove(StonesMove):
    def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
        (pages,) = conn.execute("PRAGMA page_count").fetchone()
        conn.execute(f"PRAGMA max_page_count = {pages}")
        return super().step(conn, rows_max)


def test_a_disk_that_fills_up_on_the_way_is_told_and_gone_on_from(old):
    with pytest.raises(StorageUnusable, match=r"is full\. Make room and start again: it goes on"):
        bring(old, moves=[CrampedMove()])
    assert is_due(old, [StonesMove()])
    bring(old)
    assert len(contents(old)["polished"]) == STONES
    assert len(backups(old)) == 1


def test_one_that_was_migrated_by_another_way_is_brought_over_too(old):
    """By an engine of our own, say, that somebody opened on it in a test."""
    open_writer(
        old, lambda db: migrations.migrate(db, before=migrations.following(MIGRATION))
    ).close()
    assert is_due(old, [StonesMove()])
    bring(old)
    assert len(contents(old)["polished"]) == STONES
    assert backups(old) == []


@pytest.mark.slow
def test_the_books_of_a_file_that_is_halfway_cannot_be_audited(old, tmp_path):
    assert back_up(old, tmp_path / "before.db", silent).audit.clean

    def stop(what: str, done: int, _: int) -> None:
        if what == "moving rows" and done > 0:
            raise KilledError

    with pytest.raises(KilledError):
        bring(old, stop)
    with pytest.raises(StorageUnusable, match="halfway to this version"):
        back_up(old, tmp_path / "copy.db", silent)
    assert not (tmp_path / "copy.db").exists()
    ahead = upgrade.forecast(old, [StonesMove()])
    assert ahead is not None
    assert (ahead.begun, ahead.messages) == (True, STONES - 500)
    bring(old)
    assert back_up(old, tmp_path / "copy.db", silent).audit.clean


@pytest.mark.slow
def test_a_backup_of_the_version_before_is_restored_into_todays_tables(old, tmp_path, monkeypatch):
    over = partial(bring_over, moves=[StonesMove()])
    monkeypatch.setattr(restore, "bring_over", over)
    # No migration has made the stones: the version before is made up, and so is its schema.
    monkeypatch.setattr(restore, "refuse_foreign", silent)
    database = tmp_path / "data" / "risala.db"
    database.parent.mkdir()
    ids = sorted(read(old, "SELECT id FROM messages"))
    numbers = count(1)
    report = restore.restore(
        old,
        database,
        resend_pending=False,
        even_unclean=False,
        stamp=lambda: Stamp(NOW_MS + next(numbers)),
        progress=silent,
    )
    assert report.audit.clean
    assert report.ended > 0
    assert sorted(read(database, "SELECT id FROM messages")) == ids
    assert read(database, "SELECT count(*) FROM polished") == [(STONES,)]
    assert not is_due(database, [StonesMove()])
    assert is_due(old, [StonesMove()])
    assert backups(database) == [], "the backup itself is the copy"


def test_a_damaged_file_is_not_begun_with(old):
    with closing(sqlite3.connect(old)) as conn:
        (page,) = conn.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'line'").fetchone()
    with open(old, "r+b") as file:
        file.seek(4096 * (page - 1) + 100)
        file.write(b"\xff" * 3996)
    with pytest.raises(StorageUnusable, match="is damaged"):
        bring(old)
    assert backups(old) == []
    assert MIGRATION not in contents_of_migrations(old)


def contents_of_migrations(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as conn:
        return migrations.applied(Database(conn, execute_plugins=False))


def test_a_file_of_a_newer_version_is_left_alone(old):
    with closing(sqlite3.connect(old)) as conn, conn:
        conn.execute("UPDATE _sqlite_migrations SET name = 'v9.9_new' WHERE id = 1")
    with pytest.raises(StorageUnusable, match="newer Risala"):
        bring(old)
    assert backups(old) == []


@pytest.mark.slow
def test_memory_stays_flat_however_many_rows_there_are(old):
    """A step holds its own rows; the rest stays on the disk."""
    steps: list[int] = []

    class CountingMove(StonesMove):
        def step(self, conn: sqlite3.Connection, rows_max: int) -> int:
            steps.append(super().step(conn, rows_max))
            return steps[-1]

    bring(old, moves=[CountingMove()])
    assert max(steps) <= upgrade.ROWS_AT_ONCE
    with suppress(OSError):
        wal = old.with_name("risala.db-wal")
        assert os.stat(wal).st_size < 4 * MiB
