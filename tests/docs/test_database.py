"""The page about the database names what is in it, and its queries run."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from proofs import views
from sqlite_utils import Database

from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.model import numbers

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "database.md").read_text("utf-8")
VIEWS = views.PAGE
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def conn():
    conn = sqlite3.connect(":memory:", isolation_level=None)
    migrate(Database(conn, execute_plugins=False))
    yield conn
    conn.close()


def named(heading: str) -> set[str]:
    """What the first column of a chapter's table names."""
    chapter = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [line for line in chapter.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_every_table_and_every_view_is_on_the_page(conn):
    found = {"table": set(), "view": set()}
    for kind, name in conn.execute("SELECT type, name FROM sqlite_schema"):
        if kind in found and not name.startswith(("sqlite_", "_sqlite")):
            found[kind].add(name)
    heads = re.findall(r"^## (.*)$", VIEWS.read_text("utf-8"), re.M)
    assert set(re.findall(r"`(\w+)`", " ".join(heads))) == found["view"]
    assert named("Tables") == found["table"]


def test_the_page_of_views_is_what_the_source_says():
    assert views.render() == VIEWS.read_text("utf-8"), "`make generated` writes it"


def test_every_column_of_every_view_is_on_the_page(conn):
    chapters = re.split(r"^## ", VIEWS.read_text("utf-8"), flags=re.M)
    told = {
        view: {name for row in chapter.splitlines() if row.startswith("| `")
               for name in re.findall(r"`(\w+)`", row.split("|")[1])}
        for chapter in chapters[1:]
        for view in re.findall(r"`(\w+)`", chapter.splitlines()[0])
    }  # fmt: skip
    real = {
        view: {row[1] for row in conn.execute(f"PRAGMA table_info({view})")}
        for (view,) in conn.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")
    }
    assert set(told) == set(real)
    for view, columns in real.items():
        extra = told[view] - columns
        if view in ("hour_counts", "accepted_hours"):  # which share a table
            extra = set()
        assert (columns - told[view], extra) == (set(), set()), (
            f"docs/reference/database-views.md: {view}"
        )


def test_there_are_five_queries():
    assert len(QUERIES) == 5


@pytest.mark.parametrize("number", range(5))
def test_a_query_runs(conn, number):
    assert conn.execute(QUERIES[number]).fetchall() == []


@pytest.mark.parametrize(
    ("view", "column", "source", "words"),
    [
        ("messages", "status", "status", numbers.STATUSES),
        ("messages", "mode", "mode", numbers.MODES),
        ("messages", "kind", "kind", numbers.KINDS),
        ("messages", "encoding", "encoding", numbers.ENCODINGS),
        ("messages", "resolve_action", "resolve_action", numbers.ACTIONS),
        ("segments", "state", "part_state", numbers.STATES),
    ],
)
def test_the_views_say_the_words_of_the_numbers(conn, view, column, source, words):
    conn.execute("INSERT INTO names VALUES (1, 'n')")
    values = {"mode": 0, "kind": 0, "encoding": 0, "status": 0}
    for number in range(len(words.words)):
        row = {**values, source: number}
        conn.execute(
            "INSERT INTO message (key, id, organization, priority, recipient, sender, segments,"
            f" price, currency, route, valid_until, body, {', '.join(row)})"
            f" VALUES (?, ?, 1, 1, 1, 1, 1, 1, 'MRU', 1, 1, '', {', '.join('?' * len(row))})",
            (number, str(number), *row.values()),
        )
    said = conn.execute(f"SELECT {column} FROM {view} ORDER BY 1").fetchall()
    assert [row[0] for row in said] == sorted(words.words)


@pytest.mark.parametrize(
    ("table", "view", "column", "kind", "words"),
    [
        ("entry", "ledger", "kind", "kind", numbers.ENTRY_KINDS),
        ("event", "events", "type", "type", numbers.EVENT_TYPES),
    ],
)
def test_so_do_those_of_money_and_events(conn, table, view, column, kind, words):
    more = {
        "entry": "amount, balance_after, reference, at",
        "event": "mode, subject, at, frozen",
    }[table]
    for number in range(len(words.words)):
        conn.execute(
            f"INSERT INTO {table} (organization, {kind}, {more}) VALUES (1, ?, 0, ?, ?, 0)",
            (number, number, str(number)) if table == "entry" else (number, f"x{number}", 0),
        )
    said = conn.execute(f"SELECT {column} FROM {view} ORDER BY seq").fetchall()
    assert [row[0] for row in said] == list(words.words)
