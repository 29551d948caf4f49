"""Rows of before in the slim tables: what the views tell is what the tables held."""

from __future__ import annotations

import gzip
import shutil
import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from old_books import write_old_books
from risala.engine.journal.keys import find_key
from risala.engine.journal.store.opening import open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.upkeep import backup
from risala.engine.journal.upkeep.audit import audit_file
from risala.engine.journal.upkeep.restore import restore
from risala.engine.journal.upkeep.upgrade import upgrade
from risala.engine.journal.upkeep.upgrade.slim.slim import SlimMove
from risala.engine.journal.upkeep.upgrade.upgrade import bring_over, is_due
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.ids import key_of
from risala.engine.model.records.messages import Stamp

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = sorted(
    path.name.removesuffix(".db.gz")
    for path in FIXTURES.glob("*.db.gz")
    if "m024_slim" not in path.with_suffix("").with_suffix(".json").read_text()
)
NOW_MS = 1_767_225_600_000
KEYS = {
    "messages": "id",
    "segments": "message_id, number",
    "timeline": "message_id, n",
    "ledger": "seq",
    "events": "id",
    "verifications": "id",
    "webhook_deliveries": "seq",
    "webhook_attempts": "delivery, n",
    "accepted_hours": "organization_id, hour",
    "idempotency": "organization_id, mode, key",
}
"""Of each table whose rows move, by which its rows are told apart."""
CHANGED = {"messages": {"seq", "error_text"}, "events": {"seq"}, "idempotency": {"response"}}
"""Columns that say something else afterwards: a place in a queue that has become the key, a text
that nobody has written since causes are words, and the answers, which stay where they were."""


def unpack(name: str, path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.decompress((FIXTURES / f"{name}.db.gz").read_bytes()))
    return path


def before(path: Path) -> None:
    """Bring a file up to the last tables of before."""
    open_writer(path, lambda db: migrate(db, before=SlimMove.migration)).close()


def rows(path: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as conn:
        return conn.execute(query).fetchall()


def columns(path: Path, table: str) -> list[str]:
    return [name for (name,) in rows(path, f"SELECT name FROM pragma_table_info('{table}')")]


def contents(path: Path, told: dict[str, list[str]]) -> dict[str, list[tuple]]:
    return {
        table: rows(path, f"SELECT {', '.join(names)} FROM {table} ORDER BY {KEYS[table]}")
        for table, names in told.items()
    }


def told_of(path: Path) -> dict[str, list[str]]:
    return {
        table: [name for name in columns(path, table) if name not in CHANGED.get(table, ())]
        for table in KEYS
    }


def bring(path: Path) -> None:
    bring_over(path, lambda *_: None, lambda: NOW_MS)
    assert not is_due(path)


def compare(path: Path) -> None:
    """Bring a file over, and compare what it tells with what it told."""
    before(path)
    told = told_of(path)
    expected = contents(path, told)
    answers = rows(path, "SELECT * FROM idempotency ORDER BY 1, 2, 3")
    waiting = rows(path, "SELECT id FROM messages WHERE status = 'pending' ORDER BY due_at, seq")
    report = audit_file(path)
    bring(path)
    found = contents(path, told)
    part = told["segments"].index("updated_at")
    whole = {row[0] for row in rows(path, "SELECT id FROM messages WHERE segments = 1")}
    for table, expected_rows in expected.items():
        if table == "segments":  # when the only part of a message changed last is told by its row
            expected_rows, found[table] = (
                [row[:part] + row[part + 1 :] if row[0] in whole else row for row in each]
                for each in (expected_rows, found[table])
            )
        assert found[table] == expected_rows, table
    assert rows(path, "SELECT * FROM kept_answers ORDER BY 1, 2, 3") == answers
    queue = "SELECT id FROM messages WHERE status = 'pending' ORDER BY due_at, seq"
    assert rows(path, queue) == waiting
    assert audit_file(path) == report
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    assert rows(path, "PRAGMA foreign_key_check") == []
    assert rows(path, "SELECT name FROM sqlite_schema WHERE name LIKE 'old_%'") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_old_file_tells_what_it_told(name, tmp_path):
    compare(unpack(name, tmp_path / "risala.db"))


@pytest.mark.slow
@pytest.mark.parametrize("messages", [2_000, pytest.param(20_000, marks=pytest.mark.long)])
def test_large_batches_of_one_millisecond_tell_what_they_told(messages, tmp_path):
    path = tmp_path / "risala.db"
    write_old_books(path, messages)
    ids = [row[0] for row in rows(path, "SELECT id FROM messages ORDER BY seq")]
    assert len(ids) > len({key_of(each) for each in ids}), "no two have the same key"
    compare(path)
    with closing(sqlite3.connect(path)) as conn:
        keys = [find_key(conn, each) for each in ids]
        assert None not in keys
        assert len({*keys}) == len(ids)
        told = dict(conn.execute("SELECT id, key FROM message"))
        assert [told[each] for each in ids] == keys


def whole(path: Path) -> dict[str, list[tuple]]:
    """All rows of the tables themselves, but for when it happened."""
    tables = rows(path, "SELECT name FROM sqlite_schema WHERE type = 'table'")
    dated = {"_sqlite_migrations", "sqlite_stat1"}
    return {
        name: sorted(rows(path, f"SELECT * FROM {name}"), key=str)
        for (name,) in tables
        if name not in dated
    }


@pytest.mark.slow
def test_what_comes_of_it_does_not_depend_on_how_long_the_steps_are(tmp_path, monkeypatch):
    found = []
    for rows_at_once in (500, 7):
        monkeypatch.setattr(upgrade, "ROWS_AT_ONCE", rows_at_once)
        path = tmp_path / str(rows_at_once) / "risala.db"
        path.parent.mkdir()
        write_old_books(path, 700)
        bring(path)
        found.append(whole(path))
    assert found[0] == found[1]


@pytest.mark.slow
def test_killed_anywhere_it_comes_to_the_same(tmp_path, monkeypatch):
    """The files as they lie at many moments of a move are each the beginning of one that ends."""
    monkeypatch.setattr(upgrade, "ROWS_AT_ONCE", 40)
    monkeypatch.setattr(backup, "STEPS_BETWEEN_LOOKS", 1_500)
    path = tmp_path / "whole" / "risala.db"
    path.parent.mkdir()
    write_old_books(path, 300, seed=7)
    cuts: list[Path] = []
    looks = 0

    def cut(what: str, *_: int) -> None:
        nonlocal looks
        looks += 1
        if what not in ("auditing", "checking") and looks % 6 == 0:
            cuts.append(tmp_path / f"cut{looks}")
            shutil.copytree(path.parent, cuts[-1], ignore=shutil.ignore_patterns("*-shm"))

    bring_over(path, cut, lambda: NOW_MS)
    expected = whole(path)
    assert len(cuts) > 30
    for each in cuts:
        bring(each / "risala.db")
        assert whole(each / "risala.db") == expected, each
        assert len([*each.glob("risala-before-*.db")]) == 1


@pytest.mark.parametrize("name", ["m002", "m009", "m010", "m023-with-m022"])
def test_a_backup_of_an_old_file_is_audited_by_the_checks_of_then(name, tmp_path):
    path = unpack(name, tmp_path / "risala.db")
    report = backup.back_up(path, tmp_path / "copy.db", lambda *_: None)
    assert report.audit.clean
    assert report.audit.messages > 10
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE organizations SET balance = balance + 1")
    report = backup.back_up(path, tmp_path / "copy.db", lambda *_: None)
    assert len(report.audit.faults) == 1


@pytest.mark.slow
def test_an_old_day_counts_as_the_same_day_lived_today(tmp_path):
    """Both files hold the day of ``life.py``: one was moved, the other made by the slim tables."""
    found = []
    for name in ("m025", "m025-with-m024"):
        path = unpack(name, tmp_path / name / "risala.db")
        bring_over(path, lambda *_: None, lambda: NOW_MS)
        found.append(
            rows(path, "SELECT outcome, hour, mode, kind, network, bucket, n FROM hour_count")
        )
    assert sorted(found[0]) == sorted(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["m005", "m023-with-m022"])
def test_a_backup_of_an_older_version_is_restored_into_todays_tables(name, tmp_path):
    source = unpack(name, tmp_path / "old" / "backup.db")
    database = tmp_path / "data" / "risala.db"
    database.parent.mkdir()
    ids = sorted(rows(source, "SELECT id FROM messages"))
    numbers = count(1)

    def stamp() -> Stamp:
        return Stamp(NOW_MS + next(numbers))

    report = restore(
        source,
        database,
        resend_pending=False,
        even_unclean=False,
        stamp=stamp,
        progress=lambda *_: None,
    )
    assert report.audit.clean
    assert report.ended > 0
    assert sorted(rows(database, "SELECT id FROM messages")) == ids
    assert not is_due(database)
    assert [*database.parent.glob("*before*")] == [], "the backup itself is the copy"


class _Stopped(Exception):
    pass


@pytest.mark.slow
def test_the_books_of_a_file_that_is_halfway_cannot_be_audited(tmp_path, monkeypatch):
    monkeypatch.setattr(upgrade, "ROWS_AT_ONCE", 5)
    path = unpack("m023", tmp_path / "risala.db")

    def stop(what: str, done: int, _: int) -> None:
        if what == "moving rows" and done > 10:
            raise _Stopped

    with pytest.raises(_Stopped):
        bring_over(path, stop, lambda: NOW_MS)
    with pytest.raises(StorageUnusable, match="halfway to this version"):
        backup.back_up(path, tmp_path / "copy.db", lambda *_: None)
    assert not (tmp_path / "copy.db").exists()
    assert upgrade.forecast(path).begun
    bring(path)
    assert backup.back_up(path, tmp_path / "copy.db", lambda *_: None).audit.clean


@pytest.mark.slow
def test_books_with_every_kind_of_fault_are_moved_as_they_are(tmp_path):
    """An operator's file may be wrong: its faults are told again, nothing is made up for them."""
    path = tmp_path / "risala.db"
    write_old_books(path, 200)
    with closing(sqlite3.connect(path)) as conn, conn:
        (paid, unpaid, _), *_ = [
            [row[0] for row in conn.execute("SELECT id FROM messages LIMIT 3")]
        ]
        conn.execute("DELETE FROM idempotency WHERE message_id = ?", (paid,))
        conn.execute("UPDATE ledger SET reference = 'sms_nobody' WHERE reference = ?", (unpaid,))
        conn.execute("UPDATE organizations SET balance = balance + 5")
    before(path)
    faults = set(audit_file(path).faults)
    assert len(faults) >= 5
    ledger = rows(path, "SELECT seq, kind, amount, reference, at FROM ledger ORDER BY seq")
    bring(path)
    assert set(audit_file(path).faults) == faults
    assert rows(path, "SELECT seq, kind, amount, reference, at FROM ledger ORDER BY seq") == ledger
