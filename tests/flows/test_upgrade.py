"""``risala serve`` on a database of before: brought over, whatever happens on the way."""

from __future__ import annotations

import random
import sqlite3
import sys
from contextlib import closing
from functools import partial

import pytest

import stones
from patience import until
from stones import write_stones

pytestmark = pytest.mark.slow
BEGUN = "The database is being upgraded"
TOLD = {
    "messages": "id, organization_id, status, body, recipient, price, created_at, delivered_at",
    "timeline": "message_id, n, at, status, carrier, raw, kind, details",
    "ledger": "seq, organization_id, kind, amount, balance_after, reference, at",
    "events": "id, type, subject, body, created_at",
}
PROGRAM = (sys.executable, stones.__file__)
"""``risala`` of a version in which stones move."""


@pytest.fixture
def service(premises):
    """With a data directory, and no database in it yet."""
    service = premises.service("--config", str(premises.config(port=1)))
    service.program = PROGRAM
    service.data.mkdir(mode=0o700)
    return service


def contents(path) -> dict[str, list[tuple]]:
    with closing(sqlite3.connect(path)) as conn:
        return {
            table: conn.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()
            for table, columns in TOLD.items()
        }


def polished(path) -> list[tuple]:
    with closing(sqlite3.connect(path)) as conn:
        return conn.execute("SELECT n, stone FROM polished ORDER BY n").fetchall()


def all_polished(count: int) -> list[tuple]:
    return [(n, f"polished stone {n}") for n in range(1, count + 1)]


def test_it_is_brought_over_and_then_served_at_the_same_address(service):
    path = service.data / "risala.db"
    write_stones(path, 500)
    (messages,) = service.rows("SELECT count(*) FROM messages")
    service.start()
    begun, ready = service.process.lines[:2]
    assert begun.startswith(BEGUN)
    assert f"{service.url}/readyz" in begun
    assert ready.startswith("Risala is running at")
    service.assert_books_agree()
    assert service.rows("SELECT count(*) FROM messages") == [messages]
    assert polished(path) == all_polished(500)
    assert service.stop() == 0
    assert len([*service.data.glob("risala-before-*.db")]) == 1
    service.start()
    assert service.process.lines[0].startswith("Risala is running at")


@pytest.mark.long
def test_an_order_to_stop_is_obeyed_in_the_middle(service):
    write_stones(service.data / "risala.db", 2000)
    before = contents(service.data / "risala.db")
    service.launch()
    service.process.wait_line(lambda line: line.startswith(BEGUN))
    assert service.stop() == 0
    service.assert_no_bug_logged()
    service.assert_books_agree()  # by a command, which goes on from where that was
    assert contents(service.data / "risala.db") == before
    assert polished(service.data / "risala.db") == all_polished(2000)


@pytest.mark.long
def test_a_command_brings_it_over_as_well(service):
    write_stones(service.data / "risala.db", 100)
    done = service.command("org", "list", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"balance"' in done.stdout
    assert polished(service.data / "risala.db") == all_polished(100)
    assert len([*service.data.glob("risala-before-*.db")]) == 1
    assert service.command("audit").returncode == 0


def left(path) -> int:
    """Stones that are still on the old heap."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as conn:
        for table in ("heap", "old_heap"):
            found = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
            if conn.execute(found, (table,)).fetchone():
                return conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return 0


def copies(path) -> bool:
    return bool([*path.parent.glob("risala-before-*")])


@pytest.mark.long
def test_killed_again_and_again_nothing_is_lost(service):
    """``kill -9`` at moments that a seed chooses, by how much there is left to be moved then."""
    draw = random.Random(0)
    path = service.data / "risala.db"
    write_stones(path, 3500)
    before = contents(path)
    kills = 0
    while before_kill := left(path):
        goal = max(0, before_kill - draw.randrange(1, 1500))
        service.launch()
        service.process.wait_line(lambda line: line.startswith(BEGUN))
        if not kills:  # in the middle of the copy, or just after it
            until(partial(copies, path), "the copy has begun")
        else:
            until(lambda goal=goal: left(path) <= goal, "there is less left than before")
        service.kill()
        kills += 1
    service.assert_books_agree()
    assert kills >= 3
    assert contents(path) == before
    assert polished(path) == all_polished(3500)
    assert len([*service.data.glob("risala-before-*.db")]) == 1
    assert [*service.data.glob("*.partial")] == []
