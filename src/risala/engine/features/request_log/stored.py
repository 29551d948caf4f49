"""The log of requests: a file beside the database, and worth far less.

It is not part of the journal: it has only these rows, no unit of work writes to it, and it is not
backed up. A file of another version is made again, since its content is deleted soon anyway.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final, TypeVar

import trio

from risala.engine.features.request_log.records import (
    AnsweredDay,
    LoggedRequest,
    RequestFilter,
    RequestPage,
    RequestRow,
    RequestsUnwritable,
    ShownRequest,
)
from risala.engine.journal.store.lock import claim_file
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.opening import connect, open_reader, sqlite_sentence
from risala.engine.journal.store.sql import value_of, write_values
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.ids import first_id

FILE: Final = "requests.db"
VERSION: Final = 1
SPARE_BYTES: Final = 100_000_000
"""Free disk space that is left to the database: with less, sends will soon be refused."""
_PAGE_BYTES: Final = 4096
_OUR_FAULT: Final = HTTPStatus.INTERNAL_SERVER_ERROR
_TRIM_SHARE: Final = 10
"""If the file is too large, a tenth of its rows is deleted, so that this is seldom done."""
_FREE_SHARE: Final = 4
"""If a quarter of the file is free it is made smaller; less than that is soon filled again."""


class NoRoom(Exception):
    """The disk is so full that the rest is kept for the database."""


_ENDS: Final = "SELECT (SELECT min(rowid) FROM request), (SELECT max(rowid) FROM request)"
_TABLE: Final = """
CREATE TABLE request (
    id TEXT PRIMARY KEY NOT NULL,
    organization_id TEXT NOT NULL,
    key_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    at INTEGER NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status INTEGER NOT NULL,
    took_us INTEGER NOT NULL,
    address TEXT,
    asked TEXT,
    answered TEXT NOT NULL,
    made TEXT
) STRICT
"""
_INDEXES: Final = (
    # All columns of the filters, so that only shown rows are read.
    "CREATE INDEX request_by_organization ON request (organization_id, id, key_id, status, path)",
    "CREATE INDEX request_by_made ON request (made, id) WHERE made IS NOT NULL",
)
_INSERT: Final = f"INSERT OR IGNORE INTO request ({', '.join(RequestRow._fields)}) {{values}}"


def _ms(took_us: int) -> float:
    return round(took_us / 1000, 1)


def _body(text: str | None) -> object:
    return None if text is None else json.loads(text)


_SOURCES: Final = {"request_id": "id", "took_ms": "took_us"}
_LISTED: Final = Rows(LoggedRequest, _SOURCES, took_ms=_ms)
_SHOWN: Final = Rows(ShownRequest, _SOURCES, took_ms=_ms, asked=_body, answered=_body)


def open_file(path: Path) -> sqlite3.Connection:
    """Open the file to write, making it, or its tables, where they are missing.

    Raises:
        StorageUnusable: there can be no such file.
        sqlite3.Error: it is damaged, or no database.
    """
    claim_file(path)
    conn = connect(path, "rw")
    try:
        if value_of(conn, "pragma user_version") != VERSION:
            _make(conn)
        for pragma in ("journal_mode = wal", "synchronous = normal"):
            conn.execute(f"pragma {pragma}")
    except BaseException:
        conn.close()
        raise
    return conn


def _make(conn: sqlite3.Connection) -> None:
    # Deleted rows give their space back to the disk; this must be set before the first table.
    conn.execute("pragma auto_vacuum = incremental")
    conn.execute("begin immediate")
    for statement in ("DROP TABLE IF EXISTS request", _TABLE, *_INDEXES):
        conn.execute(statement)
    conn.execute(f"pragma user_version = {VERSION}")
    conn.execute("commit")


def write(conn: sqlite3.Connection, path: Path, rows: Sequence[RequestRow]) -> None:
    """Write requests down.

    Raises:
        NoRoom: the disk is nearly full.
        sqlite3.Error: the disk or the file refused.
    """
    if shutil.disk_usage(path.parent).free < SPARE_BYTES:
        raise NoRoom
    conn.execute("begin immediate")
    try:
        write_values(conn, _INSERT, rows)
        conn.execute("commit")
    except BaseException:
        if conn.in_transaction:
            conn.execute("rollback")
        raise


def trim(conn: sqlite3.Connection, since_id: str, bytes_max: int) -> None:
    """Delete rows older than an id, and the oldest if the file is too large."""
    conn.execute("DELETE FROM request WHERE id < ?", (since_id,))
    while _used_bytes(conn) > bytes_max:
        # By their places, each found alone: a count, or both in one, would read all of them.
        lowest, highest = conn.execute(_ENDS).fetchone()
        if lowest is None:
            break
        conn.execute(
            "DELETE FROM request WHERE rowid <= ?",
            (lowest + (highest - lowest) // _TRIM_SHARE,),
        )
    pages, free = _pages(conn)
    if free * _FREE_SHARE > pages:
        conn.execute("pragma incremental_vacuum").fetchall()


def _used_bytes(conn: sqlite3.Connection) -> int:
    pages, free = _pages(conn)
    return (pages - free) * _PAGE_BYTES


def _pages(conn: sqlite3.Connection) -> tuple[int, int]:
    """Pages of the file, and how many of them are free."""
    return value_of(conn, "pragma page_count"), value_of(conn, "pragma freelist_count")


def forget(conn: sqlite3.Connection, organization_id: str) -> None:
    """Delete all requests of an organization."""
    conn.execute("DELETE FROM request WHERE organization_id = ?", (organization_id,))


def page(
    path: Path,
    filters: RequestFilter,
    *,
    before: str | None = None,
    after: str | None = None,
    limit: int,
) -> RequestPage:
    """The newest requests, or those before an id, or after one.

    Raises:
        sqlite3.Error: there is no file yet, or it cannot be read.
    """
    where, values = _where(filters)
    if after is not None:
        where.append("id > ?")
        values.append(after)
    elif before is not None:
        where.append("id < ?")
        values.append(before)
    order = "ASC" if after is not None else "DESC"
    with closing(open_reader(path)) as conn:
        rows = conn.execute(
            f"SELECT {_LISTED.columns} FROM request WHERE {' AND '.join(where)}"  # noqa: S608 -- constants
            f" ORDER BY id {order} LIMIT ?",
            (*values, limit + 1),
        ).fetchall()
    shown = tuple(map(_LISTED.of, sorted(rows[:limit], reverse=True)))
    more = len(rows) > limit
    first, last = (shown[0].request_id, shown[-1].request_id) if shown else (before, None)
    if after is not None:
        return RequestPage(shown, first if more else None, last)
    return RequestPage(shown, None if before is None else first, last if more else None)


def _where(filters: RequestFilter) -> tuple[list[str], list[object]]:
    conditions: list[str] = ["id >= ?"]
    values: list[object] = [filters.since_id or ""]
    for column, value in (
        ("organization_id", filters.organization_id),
        ("key_id", filters.key_id),
        ("path", filters.path),
        ("made", filters.made),
    ):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if (filters.least, filters.most) != (0, 999):
        conditions.append("status BETWEEN ? AND ?")
        values += [filters.least, filters.most]
    return conditions, values


COUNTED_MAX: Final = 20_000
"""An organization's latest requests that are counted by their answers: some ten milliseconds, on a
thread."""


def answered(
    path: Path, filters: RequestFilter, starts: Sequence[int], counted_max: int = COUNTED_MAX
) -> tuple[AnsweredDay, ...]:
    """The requests of an organization's key in some days, by their answers.

    Args:
        starts: when each day began, the oldest first, in UTC epoch milliseconds.

    Raises:
        sqlite3.Error: there is no file yet, or it cannot be read.
    """
    first_ids = [first_id("req", at) for at in starts]
    counts = [[0, 0, 0] for _ in starts]
    oldest, request_id = 0, ""
    with closing(open_reader(path)) as conn:
        rows = conn.execute(
            "SELECT id, key_id, status FROM request INDEXED BY request_by_organization"
            " WHERE organization_id = ? AND id >= ? ORDER BY id DESC LIMIT ?",
            (filters.organization_id, first_ids[0], counted_max),
        ).fetchall()
    for request_id, key_id, status in rows:
        if key_id == filters.key_id:
            kind = 0 if status < HTTPStatus.BAD_REQUEST else 1 if status < _OUR_FAULT else 2
            counts[bisect_right(first_ids, request_id) - 1][kind] += 1
    if len(rows) == counted_max:
        oldest = bisect_right(first_ids, request_id) - 1
    return tuple(
        AnsweredDay(at, *count) for at, count in zip(starts[oldest:], counts[oldest:], strict=True)
    )


def one(path: Path, request_id: str) -> ShownRequest | None:
    """A request; None if it is not in the log.

    Raises:
        sqlite3.Error: there is no file yet, or it cannot be read.
    """
    with closing(open_reader(path)) as conn:
        row = conn.execute(
            f"SELECT {_SHOWN.columns} FROM request WHERE id = ?",  # noqa: S608 -- constants
            (request_id,),
        ).fetchone()
    return None if row is None else _SHOWN.of(row)


# -- for the rest of the engine


T = TypeVar("T")


class RequestRepository:
    """The file of the log of requests: all of it happens on a thread, one thing at a time.

    Args:
        inline: on the loop's thread; for tests under a mock clock.
    """

    def __init__(self, data_dir: Path, *, inline: bool = False) -> None:
        self._path = data_dir / FILE
        self._inline = inline
        self._limiter = trio.CapacityLimiter(1)
        self._conn: sqlite3.Connection | None = None

    @property
    def is_there(self) -> bool:
        """Whether anything was ever written."""
        return self._path.exists()

    async def page(
        self, filters: RequestFilter, *, before: str | None, after: str | None, limit: int
    ) -> RequestPage:
        """The newest requests, or those before an id, or after one; empty if there is no log."""
        read = partial(page, self._path, filters, before=before, after=after, limit=limit)
        with suppress(sqlite3.Error):
            return await self._in_thread(read)
        return RequestPage((), None, None)

    async def answered(
        self, filters: RequestFilter, starts: Sequence[int]
    ) -> tuple[AnsweredDay, ...]:
        """See :func:`answered`; empty if there is no log."""
        with suppress(sqlite3.Error):
            return await self._in_thread(partial(answered, self._path, filters, starts))
        return ()

    async def one(self, request_id: str) -> ShownRequest | None:
        """A request; None if it is not in the log."""
        with suppress(sqlite3.Error):
            return await self._in_thread(partial(one, self._path, request_id))
        return None

    async def write(
        self,
        rows: Callable[[], Sequence[RequestRow]],
        *,
        forgotten: Iterable[str],
        since_id: str,
        bytes_max: int,
    ) -> None:
        """Write requests down, and forget what is too old or too much.

        Args:
            rows: makes them, on the thread.
            forgotten: organizations of which all earlier requests go.
            since_id: the least id that is kept.

        Raises:
            RequestsUnwritable: the disk or the file refused.
        """
        write = partial(self._write, rows, forgotten, since_id, bytes_max)
        try:
            await self._in_thread(partial(self._with_file, write))
        except NoRoom as error:
            text = f"The disk that holds {self._path} is nearly full."
            raise RequestsUnwritable(text) from error
        except StorageUnusable as error:
            raise RequestsUnwritable(str(error)) from error
        except sqlite3.Error as error:
            raise RequestsUnwritable(sqlite_sentence(self._path, error)) from error

    def close(self) -> None:
        """Close the file."""
        if self._conn is not None:
            self._conn.close()
            self._conn = None

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._inline:
            return work()
        return await trio.to_thread.run_sync(work, limiter=self._limiter)

    def _with_file(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do something with the open file; after a failure it is opened again the next time."""
        if self._conn is None:
            self._conn = open_file(self._path)
        try:
            work(self._conn)
        except BaseException:
            conn, self._conn = self._conn, None
            with suppress(sqlite3.Error):
                conn.close()
            raise

    def _write(
        self,
        rows: Callable[[], Sequence[RequestRow]],
        forgotten: Iterable[str],
        since_id: str,
        bytes_max: int,
        conn: sqlite3.Connection,
    ) -> None:
        for organization_id in forgotten:
            forget(conn, organization_id)
        if made := rows():
            write(conn, self._path, made)
        trim(conn, since_id, bytes_max)
