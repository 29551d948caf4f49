"""What goes through sqlite-utils belongs to the writer's transaction, and to no other."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from risala.engine.journal.accounts import accounts
from risala.engine.journal.store.opening import open_reader, open_writer
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.store.transaction import run_batch
from risala.engine.model.errors import Failed, NotFound
from risala.engine.model.records.people.organizations import Organization

THERE = Organization(
    *("org_1", "There", "active", 0, "MRU", None, False, False, False),
    *(None, None, None, None, None, None, "Africa/Nouakchott", 1),
)
WRITES: dict[str, Callable[[sqlite3.Connection], object]] = {
    "insert": lambda conn: writable(conn, "meta").insert({"key": "new", "value": "x"}),
    "upsert new": lambda conn: writable(conn, "meta").upsert({"key": "new", "value": "x"}),
    "upsert old": lambda conn: writable(conn, "meta").upsert({"key": "old", "value": "x"}),
    "insert many": lambda conn: writable(conn, "meta").insert_all(
        {"key": str(each), "value": "x"} for each in range(300)
    ),
    "update": lambda conn: writable(conn, "meta").update("old", {"value": "x"}),
    "delete": lambda conn: writable(conn, "meta").delete("old"),
    "delete where": lambda conn: writable(conn, "meta").delete_where("key = ?", ["old"]),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "risala.db"


@pytest.fixture
def conn(path: Path) -> Iterator[sqlite3.Connection]:
    path.touch(0o600)
    conn = open_writer(path, migrate)
    run_batch(conn, [lambda conn: writable(conn, "meta").insert({"key": "old", "value": "1"})])
    yield conn
    conn.close()


def everything(conn: sqlite3.Connection) -> list[str]:
    return [*conn.iterdump()]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("error", [NotFound("no such thing"), ValueError("a bug")])
def test_a_unit_that_fails_after_such_a_write_leaves_nothing(conn, write, error):
    before = everything(conn)

    def unit(conn: sqlite3.Connection) -> None:
        write(conn)
        assert everything(conn) != before
        assert conn.in_transaction
        raise error

    done = run_batch(conn, [unit])

    assert [answer.error for answer in done.answers if isinstance(answer, Failed)] == [error]
    assert everything(conn) == before


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_bad_neighbour_does_not_take_such_a_write_along(conn, write):
    def bad(conn: sqlite3.Connection) -> None:
        writable(conn, "meta").insert({"key": "bad", "value": "x"})
        raise ValueError("a bug")

    before = everything(conn)
    good, failed = run_batch(conn, [write, bad]).answers

    assert not isinstance(good, Failed)
    assert isinstance(failed, Failed)
    assert everything(conn) != before
    assert not [*table(conn, "meta").rows_where("key = 'bad'")]


def test_a_write_whose_constraint_fails_leaves_its_unit_standing(conn):
    def unit(conn: sqlite3.Connection) -> None:
        accounts.add_organization(conn, THERE)
        with pytest.raises(sqlite3.IntegrityError):
            accounts.add_organization(conn, THERE)
        assert conn.in_transaction

    (answer,) = run_batch(conn, [unit]).answers

    assert answer is None
    assert accounts.organizations(conn) == [THERE]


def test_writing_outside_a_unit_is_refused(conn):
    with pytest.raises(RuntimeError, match="no transaction is open"):
        writable(conn, "meta")


def test_a_table_that_is_not_there_is_not_made(conn):
    (answer,) = run_batch(conn, [lambda conn: writable(conn, "mta").insert({"key": "a"})]).answers

    assert "there is no table mta" in str(answer.error)
    assert "mta" not in Database(conn).table_names()


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_no_write_reads_the_whole_schema(conn, write):
    statements: list[str] = []
    conn.set_trace_callback(statements.append)

    run_batch(conn, [write])

    assert any("meta" in each for each in statements)
    assert not [each for each in statements if "sqlite_schema" in each or "sqlite_master" in each]


def test_reading_opens_no_transaction_and_changes_no_pragma(conn, path):
    reader = open_reader(path)

    assert [row["value"] for row in table(reader, "meta").rows_where("key = ?", ["old"])] == ["1"]

    assert not reader.in_transaction
    assert reader.execute("PRAGMA recursive_triggers").fetchone() == (0,)
    reader.close()


def test_views_are_made_anew_when_they_say_something_else(tmp_path):
    """They hold nothing: a later version changes them without a migration."""
    path = tmp_path / "risala.db"
    for _ in range(2):
        open_writer(path, migrate).close()
        with closing(sqlite3.connect(path)) as conn:
            version = conn.execute("PRAGMA schema_version").fetchone()
    open_writer(path, migrate).close()
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("PRAGMA schema_version").fetchone() == version, "it was right already"
        of_now = conn.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").fetchall()
        conn.execute("DROP VIEW timeline")
        conn.execute("CREATE VIEW timeline AS SELECT 1 AS n")
        conn.execute("DROP VIEW events")
        conn.commit()
    open_writer(path, migrate).close()
    with closing(sqlite3.connect(path)) as conn:
        again = conn.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").fetchall()
    assert sorted(again) == sorted(of_now)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_no_write_changes_the_schema(conn, write):
    """All connections would read the whole of it again."""
    (before,) = conn.execute("pragma schema_version").fetchone()
    run_batch(conn, [write])
    assert conn.execute("pragma schema_version").fetchone() == (before,)
