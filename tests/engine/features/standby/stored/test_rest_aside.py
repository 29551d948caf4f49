"""What only an overtaken machine has is listed by its ids, and its database is set aside."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from risala.engine.features.standby.stored.closed_database import list_rest, move_aside
from risala.engine.model.errors import StorageUnusable
from risala.plugins.testing.fake_driver import FakeDriver

pytestmark = pytest.mark.slow


def settled(path, target):
    """A copy of a database that no service has open, with nothing beside it."""
    shutil.copyfile(path, target)
    with closing(sqlite3.connect(target)) as conn:
        conn.execute("pragma journal_mode = delete")
    return target


async def test_what_came_after_the_copy_is_listed(open_house, tmp_path):
    driver = FakeDriver(delivers=True)
    async with open_house(drivers={"fake": driver}) as house:
        await house.gateway.perform("carriers.pause", {"carrier": "fake"})
        both = await house.send("in both")
    database, target = tmp_path / "risala.db", tmp_path / "list"
    other = settled(database, tmp_path / "other.db")
    assert not any(list_rest(database, other, target).values())
    target.unlink()
    async with open_house(drivers={"fake": driver}) as house:
        await house.gateway.perform("carriers.resume", {"carrier": "fake"})
        only = await house.send("only here")
        for each in (both, only):
            await house.wait_status(each, "delivered")
    counts = list_rest(database, other, target)
    found = [json.loads(line) for line in target.read_text().splitlines()]
    assert {each["id"]: each["kind"] for each in found}.items() >= {
        only: "messages",
        both: "sent",
    }.items()
    assert (counts["messages"], counts["sent"]) == (1, 1)
    # The house makes an organization with money each time that it is opened.
    assert (counts["organizations"], counts["money"]) == (1, 1)
    assert sum(counts.values()) == len(found)
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        list_rest(database, other, target)

    aside = move_aside(database, 1_000)
    assert aside.name == "risala.db.before-rejoin-19700101T000001.000000"
    assert sorted(path.name for path in tmp_path.glob("risala.db*")) == [aside.name]
    with closing(sqlite3.connect(aside)) as conn:
        assert conn.execute("SELECT count(*) FROM message").fetchone() == (2,)


def test_a_database_that_cannot_be_read_is_set_aside_as_it_is(tmp_path):
    database = tmp_path / "risala.db"
    database.write_bytes(b"no database" * 1000)
    (tmp_path / "risala.db-wal").write_bytes(b"its log")
    (tmp_path / "other.db").touch()
    with pytest.raises(StorageUnusable):
        list_rest(database, tmp_path / "other.db", tmp_path / "list")
    assert not (tmp_path / "list").exists()
    aside = move_aside(database, 1_000)
    assert aside.read_bytes() == b"no database" * 1000
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == b"its log"
