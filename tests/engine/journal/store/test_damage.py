"""Damaged pages of a real file: whoever meets them first, nothing is accepted from then on."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio

from risala.engine.actors.supervisor import STORAGE_RETRY_S, RestartPolicy, Supervisor
from risala.engine.journal.store.condition import Condition
from risala.engine.journal.store.opening import open_watched, sqlite_sentence
from risala.engine.model.errors import OutcomeUnknown, StorageFailed

PAGE_BYTES = 4096


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "risala.db"


def fold(path: Path) -> None:
    """Bring everything from the WAL into the file."""
    with closing(sqlite3.connect(path)) as conn:
        assert conn.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0


def damage(path: Path, *names: str) -> None:
    """Overwrite the first page of a table or an index, but for its header."""
    with closing(sqlite3.connect(path)) as conn:
        pages = [
            conn.execute("select rootpage from sqlite_schema where name = ?", (name,)).fetchone()[0]
            for name in names
        ]
    with open(path, "r+b") as file:
        for page in pages:
            file.seek(PAGE_BYTES * (page - 1))
            file.write(b"\xff" * PAGE_BYTES)


async def refused(house) -> None:
    with pytest.raises(StorageFailed) as raised:
        await house.send()
    assert not isinstance(raised.value, OutcomeUnknown)


async def test_a_reader_meets_it_and_sends_are_refused(open_house, quick, path):
    async with open_house() as house:
        message_id = await house.send()
        await house.wait_status(message_id, "sent")
        journal = house.gateway.services.recorder.journal
        fold(path)
        damage(path, "webhook_endpoints")  # which no send needs
        await house.send()
        with pytest.raises(StorageFailed):
            journal.reader().execute("select * from webhook_endpoints").fetchall()
        await refused(house)
        readiness = house.gateway.readiness()
        assert not readiness.ready
        assert "the database is damaged" in readiness.reasons[0]
        assert str(path) not in readiness.reasons[0]


async def test_the_audit_meets_it_and_says_so(open_house, quick, path):
    async with open_house() as house:
        await house.send()
        fold(path)
        damage(path, "entry_by_organization", "entry")
        with pytest.raises(StorageFailed) as raised:
            await house.gateway.perform("audit", {})
        assert str(raised.value).startswith("The database is damaged (")
        assert "restore a backup" in str(raised.value)
        await refused(house)


async def test_the_writer_meets_it(open_house, quick, path):
    async with open_house() as house:
        journal = house.gateway.services.recorder.journal

        def unit(conn: sqlite3.Connection) -> None:
            error = sqlite3.DatabaseError("database disk image is malformed")
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error

        with pytest.raises(StorageFailed):
            await journal.commit(unit)
        await refused(house)
        assert "damaged" in (await house.gateway.perform("statistics", {}))["journal"]["ailment"]


@pytest.mark.parametrize(
    ("code", "lasts"),
    [
        (sqlite3.SQLITE_CORRUPT, True),
        (sqlite3.SQLITE_CORRUPT_INDEX, True),
        (sqlite3.SQLITE_NOTADB, True),
        (sqlite3.SQLITE_IOERR_READ, True),
        (sqlite3.SQLITE_IOERR_SHORT_READ, True),
        (sqlite3.SQLITE_IOERR_WRITE, False),
        (sqlite3.SQLITE_IOERR_FSYNC, False),
        (sqlite3.SQLITE_FULL, False),
        (sqlite3.SQLITE_READONLY, False),
        (sqlite3.SQLITE_BUSY, False),
    ],
)
def test_what_lasts_and_what_passes(path, code, lasts):
    condition = Condition(path)
    error = sqlite3.OperationalError("SQLite's words")
    error.sqlite_errorcode = code
    condition.meet(error)
    assert condition.ailment is not None
    assert condition.lasts is lasts
    for text in (condition.ailment.text, condition.ailment.advice):
        assert text
    assert condition.ailment.sentence.endswith(".")
    condition.recovered()
    assert (condition.ailment is None) is not lasts


def test_no_room_for_the_shared_memory_is_a_full_disk(path):
    """SQLite calls it an error of the disk, which its operator would look for in vain."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    condition = Condition(path)
    condition.meet(error)
    assert condition.ailment.text == "the disk that holds the database is full"
    assert sqlite_sentence(path, error) == f"The disk that holds {path} is full."


def test_what_lasts_hides_behind_nothing_later(path):
    condition = Condition(path)
    for code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FULL):
        error = sqlite3.OperationalError("words")
        error.sqlite_errorcode = code
        condition.meet(error)
    assert condition.lasts


class TestReaders:
    """Each way to read tells of it, and raises what callers know."""

    @pytest.fixture
    def met(self) -> list[BaseException]:
        return []

    @pytest.fixture
    def conn(self, path, met):
        with closing(sqlite3.connect(path)) as made:
            made.execute("create table t (n integer primary key, text text)")
            made.executemany("insert into t values (?, ?)", [(n, "x" * 500) for n in range(100)])
            made.commit()
            leaves = made.execute("select pageno from dbstat where name = 't'").fetchall()
        with open(path, "r+b") as file:  # the last leaf: the first rows are well
            file.seek(PAGE_BYTES * (leaves[-1][0] - 1))
            file.write(b"\xff" * PAGE_BYTES)
        with closing(open_watched(path, met.append)) as conn:
            yield conn

    @pytest.mark.parametrize(
        "read",
        [
            lambda conn: conn.execute("select * from t where n = 99").fetchone(),
            lambda conn: conn.execute("select * from t").fetchall(),
            lambda conn: list(conn.execute("select * from t")),
            lambda conn: [row for cursor in [conn.execute("select * from t")] for row in cursor],
            lambda conn: _one_by_one(conn.execute("select * from t")),
        ],
    )
    def test_of_a_damaged_page(self, conn, met, read):
        with pytest.raises(StorageFailed):
            read(conn)
        assert len(met) == 1

    def test_what_is_well_is_read_as_ever(self, conn, met):
        assert conn.execute("select n from t where n = ?", (1,)).fetchone() == (1,)
        assert conn.execute("select n from t where n < 3").fetchall() == [(0,), (1,), (2,)]
        assert met == []

    def test_a_bug_is_no_damage(self, conn, met):
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            conn.execute("select missing from t")
        assert met == []


def _one_by_one(cursor: sqlite3.Cursor) -> None:
    while cursor.fetchone() is not None:
        pass


def test_text_that_cannot_be_decoded_is_damage(path):
    met: list[BaseException] = []
    with closing(sqlite3.connect(path)) as made:
        made.execute("create table t (text text)")
        made.execute("insert into t values (cast(x'ff41' as text))")
        made.commit()
    with closing(open_watched(path, met.append)) as conn, pytest.raises(StorageFailed):
        conn.execute("select text from t").fetchone()
    assert len(met) == 1


@pytest.mark.parametrize(
    "fault", [StorageFailed(), MemoryError(), RuntimeError("can't start new thread")]
)
async def test_who_finds_no_storage_or_memory_or_thread_is_begun_again_for_ever(quick, fault):
    """Not its bug: giving up would end the process, and with it the place where it shows."""
    begun = 0

    async def service() -> None:
        nonlocal begun
        begun += 1
        if begun > 1:
            async with trio.open_nursery():
                raise fault
        await trio.sleep(1)
        raise fault

    supervisor = Supervisor()
    async with trio.open_nursery() as nursery:
        await nursery.start(supervisor.run)
        await supervisor.start_service("reads", service, policy=RestartPolicy(restarts_max=2))
        await trio.sleep(20 * STORAGE_RETRY_S)
        assert begun >= 19
        await supervisor.stop()
        nursery.cancel_scope.cancel()
