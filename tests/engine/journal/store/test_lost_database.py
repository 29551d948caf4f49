"""The database goes, or another takes its place, while we have it open: nothing is lost unsaid."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from risala.engine.journal.audit.books import audit_file
from risala.engine.journal.store import presence
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.store.writer import Journal
from risala.engine.model.errors import OutcomeUnknown, StorageFailed, StorageUnusable
from risala.plugins.testing.fake_driver import FakeDriver


def beside(path: Path, part: str) -> Path:
    return path.with_name(path.name + part)


def remove(path: Path) -> None:
    path.unlink()


def move_away(path: Path) -> None:
    path.rename(beside(path, ".away"))


def replace(path: Path) -> None:
    shutil.copy(path, beside(path, ".copy"))
    beside(path, ".copy").replace(path)


def cut_short(path: Path) -> None:
    with open(path, "r+b") as file:
        file.truncate(512)


def directory_moved(path: Path) -> None:
    path.parent.rename(beside(path.parent, ".away"))


LOSSES = [
    (remove, "", "the database was removed while the service runs"),
    (move_away, "", "the database was removed while the service runs"),
    (replace, "", "the database was replaced by another file while the service runs"),
    (cut_short, "", "the database was cut short while the service runs"),
    (remove, "-wal", "the database's risala.db-wal beside it was removed while the service runs"),
    (replace, "-wal", "risala.db-wal beside it was replaced by another file"),
    (remove, "-shm", "risala.db-shm beside it was removed"),
    (directory_moved, "", "the database was removed while the service runs"),
]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "risala.db"


@pytest.mark.parametrize(("lose", "part", "words"), LOSSES)
async def test_nothing_is_accepted_once_it_is_gone(
    open_house, quick, path, lose: Callable[[Path], None], part, words
):
    driver = FakeDriver()
    async with open_house(drivers={"fake": driver}) as house:
        await house.wait_status(await house.send(), "sent")
        assert house.gateway.readiness().ready
        with closing(sqlite3.connect(path)) as conn:  # so that the file has a size
            conn.execute("pragma wal_checkpoint(passive)")
        house.gateway.readiness()
        lose(beside(path, part))
        with pytest.raises(StorageFailed) as refused:
            await house.send()
        assert not isinstance(refused.value, OutcomeUnknown)
        with pytest.raises(StorageFailed):
            await house.gateway.send_batch(house.principal, [])
        readiness = house.gateway.readiness()
        assert not readiness.ready
        assert words in readiness.reasons[0]
        ailment = (await house.gateway.perform("statistics", {}))["journal"]["ailment"]
        assert ailment.startswith("The database")
        assert "restore a backup" in ailment
        assert len(driver.submitted) == 1


async def test_it_shows_where_nobody_sends(open_house, path):
    async with open_house() as house:
        path.unlink()
        assert not house.gateway.readiness().ready


async def test_what_went_into_the_void_meanwhile_is_in_doubt(open_house, path):
    async with open_house() as house:
        journal = house.gateway.services.recorder.journal

        def unit(conn: sqlite3.Connection) -> str:
            conn.execute("insert into meta values ('a', 'b')")
            path.unlink()
            return "stored"

        with pytest.raises(OutcomeUnknown):
            await journal.commit(unit)
        assert journal.statistics().doubts == 1


async def test_it_does_not_come_back_by_itself(open_house, path):
    """Another program may have written to it meanwhile."""
    async with open_house() as house:
        move_away(path)
        assert not house.gateway.readiness().ready
        beside(path, ".away").rename(path)
        assert not house.gateway.readiness().ready
        with pytest.raises(StorageFailed):
            await house.send()


class TestTheNextStart:
    async def test_makes_no_new_one_where_one_was(self, open_house, path):
        async with open_house():
            pass
        path.unlink()
        for _ in range(2):
            with pytest.raises(ExceptionGroup) as raised:
                async with open_house():
                    pass
            assert raised.group_contains(StorageUnusable, match="there was one: put it back, or")
            assert not path.exists()
        presence.mark_of(path).unlink()
        async with open_house() as house:  # to begin with an empty one is the operator's word
            await house.send()

    async def test_makes_no_new_one_after_a_wildcard(self, open_house, path):
        """What people type: `rm risala.db*` took the mark along."""
        async with open_house():
            pass
        for each in path.parent.glob(f"{path.name}*"):
            each.unlink()
        with pytest.raises(ExceptionGroup) as raised:
            async with open_house():
                pass
        assert raised.group_contains(StorageUnusable, match="there was one: put it back, or")
        assert not path.exists()

    async def test_takes_an_emptied_one_for_lost(self, open_house, path):
        async with open_house():
            pass
        path.write_bytes(b"")
        with pytest.raises(ExceptionGroup) as raised:
            async with open_house():
                pass
        assert raised.group_contains(StorageUnusable, match="is empty, and there was one")
        assert path.read_bytes() == b""

    async def test_knows_an_orphaned_wal(self, path):
        beside(path, "-wal").write_bytes(b"\x37\x7f\x06\x82" * 100)
        with pytest.raises(StorageUnusable, match="belongs to one: put the database back"):
            await Journal(path, migrate, inline=True).run()
        assert not path.exists()

    async def test_goes_on_with_one_that_was_put_back(self, open_house, quick, path):
        async with open_house() as house:
            kept = await house.send()
            for part in ("", "-wal", "-shm"):
                move_away(beside(path, part))
            with pytest.raises(StorageFailed):
                await house.send()
        for part in ("", "-wal"):
            beside(path, f"{part}.away").rename(beside(path, part))
        async with open_house() as house:
            await house.wait_status(kept, "sent")
            report = audit_file(path)
            assert (report.messages, report.faults) == (1, ())


def test_the_mark_says_what_it_is_for(path):
    presence.mark(path)
    presence.mark(path)
    assert "Remove this file to begin anew" in presence.mark_of(path).read_text()
    assert presence.mark_of(path).stat().st_mode & 0o777 == 0o600


def test_a_mark_that_cannot_be_made_is_no_reason_not_to_start(tmp_path):
    presence.mark(tmp_path / "nowhere" / "risala.db")
