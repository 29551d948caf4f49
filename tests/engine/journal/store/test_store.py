"""What repositories read and write with: long reads go to a thread, or stay under a mock clock."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio
from sqlite_utils import Database

from risala.engine.journal.store.repository import Store, command, read, scan
from risala.engine.journal.store.writer import Journal
from risala.engine.model.errors import StorageFailed


def migrate(db: Database) -> None:
    with db.atomic():
        db.execute("create table if not exists item (id integer primary key)")


@asynccontextmanager
async def opened(tmp_path: Path, **options: Any) -> AsyncIterator[Store]:
    journal = Journal(tmp_path / "store.db", migrate, **options)
    async with trio.open_nursery() as nursery:
        await nursery.start(journal.run)
        yield Store.open(journal)
        journal.stop()


def insert(conn: sqlite3.Connection) -> None:
    conn.execute("insert into item (id) values (7)")


def look(conn: sqlite3.Connection) -> tuple[list[Any], int]:
    return conn.execute("select id from item").fetchall(), threading.get_ident()


@dataclass(frozen=True, slots=True)
class ItemRepository:
    _store: Store

    items = read(look)
    all_items = scan(look)
    add = command(insert)


async def test_a_repository_says_where_each_read_runs(tmp_path: Path):
    async with opened(tmp_path) as store:
        items = ItemRepository(store)
        await items.add()
        assert items.items() == ([(7,)], threading.get_ident())
        rows, thread = await items.all_items()
        assert rows == [(7,)]
        assert thread != threading.get_ident()


async def test_a_long_read_has_a_thread_and_sees_what_is_committed(tmp_path: Path):
    async with opened(tmp_path) as store:
        await store.commit(insert)
        rows, thread = await store.scan(look)
        assert rows == [(7,)]
        assert thread != threading.get_ident()


async def test_under_a_mock_clock_it_stays_on_the_loop(tmp_path: Path, autojump_clock):
    async with opened(tmp_path, inline=True) as store:
        await store.commit(insert)
        rows, thread = await store.scan(look)
        assert rows == [(7,)]
        assert thread == threading.get_ident()


async def test_it_cannot_write(tmp_path: Path):
    async with opened(tmp_path) as store:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            await store.scan(insert)
        assert store.journal.condition.ailment is None


async def test_a_disk_that_fails_it_is_told(tmp_path: Path):
    async with opened(tmp_path) as store:

        def fail(_: sqlite3.Connection) -> None:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR_READ
            raise error

        with pytest.raises(StorageFailed):
            await store.scan(fail)
        assert store.journal.condition.ailment is not None
