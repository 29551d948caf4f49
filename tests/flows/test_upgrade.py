"""``risala serve`` on a database of before: brought over, whatever happens on the way."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from functools import partial

import pytest

from old_books import write_old_books
from patience import until

pytestmark = pytest.mark.slow
BEGUN = "The database is being upgraded"
TOLD = {
    "messages": "id, organization_id, status, body, recipient, price, created_at, delivered_at",
    "timeline": "message_id, n, at, status, carrier, raw, kind, details",
    "ledger": "seq, organization_id, kind, amount, balance_after, reference, at",
    "events": "id, type, subject, body, created_at",
}


def contents(path) -> dict[str, list[tuple]]:
    with closing(sqlite3.connect(path)) as conn:
        return {
            table: conn.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()
            for table, columns in TOLD.items()
        }


def test_it_is_brought_over_and_then_served_at_the_same_address(premises):
    service = premises.service("--config", str(premises.config(port=1)))
    service.data.mkdir(mode=0o700)
    write_old_books(service.data / "risala.db", 500)
    service.start()
    begun, ready = service.process.lines[:2]
    assert begun.startswith(BEGUN)
    assert f"{service.url}/readyz" in begun
    assert ready.startswith("Risala is running at")
    service.assert_books_agree()
    assert service.rows("SELECT count(*) FROM messages") == [(500,)]
    assert service.stop() == 0
    assert len([*service.data.glob("risala-before-*.db")]) == 1
    service.start()
    assert service.process.lines[0].startswith("Risala is running at")


def test_an_order_to_stop_is_obeyed_in_the_middle(premises):
    service = premises.service("--config", str(premises.config(port=1)))
    service.data.mkdir(mode=0o700)
    write_old_books(service.data / "risala.db", 2000)
    before = contents(service.data / "risala.db")
    service.launch()
    service.process.wait_line(lambda line: line.startswith(BEGUN))
    assert service.stop() == 0
    service.assert_no_bug_logged()
    service.assert_books_agree()  # by a command, which goes on from where that was
    assert contents(service.data / "risala.db") == before


def test_a_command_brings_it_over_as_well(premises):
    service = premises.service()
    service.data.mkdir(mode=0o700)
    write_old_books(service.data / "risala.db", 100)
    done = service.command("org", "list", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert '"Shop 0"' in done.stdout
    assert len([*service.data.glob("risala-before-*.db")]) == 1
    assert service.command("audit").returncode == 0


def left(path) -> int:
    """Messages that are still in the old tables."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as conn:
        for table in ("messages", "old_messages"):  # a view once the tables are made
            found = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
            if conn.execute(found, (table,)).fetchone():
                return conn.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    return 0


def copies(path) -> bool:
    return bool([*path.parent.glob("risala-before-*")])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_killed_again_and_again_nothing_is_lost(premises, seed):
    """``kill -9`` at moments that a seed chooses, by how much there is left to be moved then."""
    draw = random.Random(seed)
    service = premises.service("--config", str(premises.config(port=1)))
    service.data.mkdir(mode=0o700)
    path = service.data / "risala.db"
    write_old_books(path, 12_000, seed)
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
    assert kills >= 8
    assert contents(path) == before
    assert len([*service.data.glob("risala-before-*.db")]) == 1
    assert [*service.data.glob("*.partial")] == []
