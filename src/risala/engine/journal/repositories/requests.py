"""The log of requests, which is a separate file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio

from risala.engine.journal.requests import file
from risala.engine.journal.store.opening import sqlite_sentence
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.records.requests import (
    RequestFilter,
    RequestPage,
    RequestRow,
    RequestsUnwritable,
    ShownRequest,
)

T = TypeVar("T")


class RequestRepository:
    """The file of the log of requests: all of it happens on a thread, one thing at a time.

    Args:
        inline: on the loop's thread; for tests under a mock clock.
    """

    def __init__(self, data_dir: Path, *, inline: bool = False) -> None:
        self._path = data_dir / file.FILE
        self._inline = inline
        self._limiter = trio.CapacityLimiter(1)
        self._conn: sqlite3.Connection | None = None

    @property
    def is_there(self) -> bool:
        """Whether anything was ever written."""
        return self._path.exists()

    async def page(
        self, wanted: RequestFilter, *, before: str | None, after: str | None, limit: int
    ) -> RequestPage:
        """The newest requests, or those before an id, or after one; empty if there is no log."""
        read = partial(file.page, self._path, wanted, before=before, after=after, limit=limit)
        with suppress(sqlite3.Error):
            return await self._in_thread(read)
        return RequestPage((), None, None)

    async def one(self, request_id: str) -> ShownRequest | None:
        """A request; None if it is not in the log."""
        with suppress(sqlite3.Error):
            return await self._in_thread(partial(file.one, self._path, request_id))
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
        except file.NoRoom as error:
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
            self._conn = file.open_file(self._path)
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
            file.forget(conn, organization_id)
        if made := rows():
            file.write(conn, self._path, made)
        file.trim(conn, since_id, bytes_max)
