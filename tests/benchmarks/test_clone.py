"""Copies of real rows: distinct where a row must be, older, and still one another's."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest
from benchmarks.scale import clone

_TEMPLATES = 4
_SCHEMA = """
CREATE TABLE organizations (id TEXT PRIMARY KEY);
CREATE TABLE messages (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, organization TEXT NOT NULL,
  segments INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE events (seq INTEGER PRIMARY KEY, message INTEGER NOT NULL REFERENCES messages (key));
CREATE TABLE timeline (message_id TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (message_id, n));
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(_SCHEMA)
        database.execute("INSERT INTO organizations VALUES ('org')")
    return path


def _deliver(path, count):
    now_ms = int(time.time() * 1000)
    with closing(sqlite3.connect(path)) as database, database:
        for n in range(count):
            key = 5000 + 3 * n
            row = (key, f"sms_{n}", "org", 1, now_ms + n)
            database.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", row)
            database.execute("INSERT INTO events (message) VALUES (?)", (key,))
            lines = [(f"sms_{n}", line) for line in (1, 2)]
            database.executemany("INSERT INTO timeline VALUES (?, ?)", lines)


def test_the_file_holds_so_many_messages_afterwards(path):
    before = clone.counts(path)
    _deliver(path, _TEMPLATES)
    told = []
    clone.multiply(path, before, _TEMPLATES, 40, told.append)
    after = clone.counts(path)
    assert after == {"organizations": 1, "messages": 40, "events": 40, "timeline": 80}
    assert told[-1] == 40
    with closing(sqlite3.connect(path)) as database:
        (lost,) = database.execute(
            "SELECT count(*) FROM events LEFT JOIN messages ON key = message WHERE key IS NULL"
        ).fetchone()
        (alone,) = database.execute(
            "SELECT count(*) FROM timeline t LEFT JOIN messages m ON m.id = t.message_id"
            " WHERE m.id IS NULL"
        ).fetchone()
        (newest,) = database.execute("SELECT max(key) FROM messages").fetchone()
        (organizations,) = database.execute(
            "SELECT count(DISTINCT organization) FROM messages"
        ).fetchone()
        oldest, youngest = database.execute(
            "SELECT min(created_at), max(created_at) FROM messages"
        ).fetchone()
    assert (lost, alone, organizations) == (0, 0, 1)
    assert newest == 5000 + 3 * (_TEMPLATES - 1)  # what comes next still comes last
    assert youngest - oldest >= 9 * 60_000


def test_a_table_whose_copies_would_collide_is_named(path):
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE slots (n INTEGER, place INTEGER, UNIQUE (place))")
    before = clone.counts(path)
    _deliver(path, _TEMPLATES)
    with closing(sqlite3.connect(path)) as database, database:
        database.executemany("INSERT INTO slots VALUES (1, ?)", [(n,) for n in range(_TEMPLATES)])
    with pytest.raises(clone.Unclear, match="slots is unique by place"):
        clone.multiply(path, before, _TEMPLATES, 40, lambda _: None)
