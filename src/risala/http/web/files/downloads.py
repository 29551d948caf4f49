"""Files that are written while they are read: a table of any length, with one part in memory.

Nothing is written ahead: the next part is fetched when the connection took the previous one. The
download stops when its reader leaves, signs out or is no longer a member; the browser then detects
that the file is cut off. Another stream shows the progress, by the id of the download.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing, contextmanager
from dataclasses import field
from enum import StrEnum
from typing import Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.errors import Forbidden, Overloaded, RateLimited
from risala.engine.model.following import Lagged
from risala.http.web.files.spreadsheet import Cell, FileForm

RUNNING_MAX: Final = 8
"""For all readers together: each takes some of the time for sending messages."""
RUNNING_PER_USER_MAX: Final = 2
KEPT_MAX: Final = 500
"""Downloads of which it is remembered how far they came."""
AGAIN_S: Final = 30


class DownloadState(StrEnum):
    WAITING = "waiting"
    """The page of the download is open; the file was not requested yet."""
    RUNNING = "running"
    DONE = "done"
    BROKEN = "broken"
    """The reader left, or something failed on our side."""


@dataclass(slots=True, eq=False)
class Download:
    """The progress of one download."""

    rows: int = 0
    share: float = 0.0
    """The estimated progress: 0 to 1."""
    state: DownloadState = DownloadState.WAITING
    changed: trio.Event = field(default_factory=trio.Event)

    def tell(self) -> None:
        """Wake the streams that watch it."""
        self.changed.set()
        self.changed = trio.Event()


@dataclass(frozen=True, slots=True)
class TablePart:
    rows: Sequence[Sequence[Cell]]
    share: float
    """The estimated progress of the whole once this part is written: 0 to 1."""
    head: Sequence[str] = ()
    """The names of the columns, before the rows; only the first part has them."""


class DownloadFollower:
    """Notifies a stream of pieces of the progress of a download."""

    def __init__(self, download: Download) -> None:
        self._download = download
        # The stream may begin after a short file is complete: so a download that has begun is
        # reported at once.
        is_waiting = download.state is DownloadState.WAITING
        self._seen: tuple[int, DownloadState] | None = self._now if is_waiting else None
        self._closed = False

    @property
    def _now(self) -> tuple[int, DownloadState]:
        return self._download.rows, self._download.state

    async def __anext__(self) -> Lagged:
        """Raises ``StopAsyncIteration`` at the end."""
        while not self._closed and self._seen == self._now:
            if self._download.state in (DownloadState.DONE, DownloadState.BROKEN):
                raise StopAsyncIteration
            await self._download.changed.wait()
        if self._closed:
            raise StopAsyncIteration
        self._seen = self._now
        return Lagged(0)

    def skip(self) -> None:
        self._seen = self._now

    def close(self) -> None:
        self._closed = True
        self._download.tell()


class Downloads:
    """The downloads of all readers. All run on one loop."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], Download] = OrderedDict()
        self._running: list[str] = []

    def expect(self, user_id: str, download_id: str) -> Download:
        """The state of a reader's download; before its start, one that waits."""
        known = self._known.setdefault((user_id, download_id), Download())
        while len(self._known) > KEPT_MAX:
            self._known.popitem(last=False)
        return known

    @contextmanager
    def follow(self, download: Download) -> Iterator[DownloadFollower]:
        yield DownloadFollower(download)

    def refuse(self, user_id: str) -> None:
        """Check that another download may start.

        Raises:
            RateLimited, Overloaded: the reader has, or all readers have, the maximum.
        """
        if self._running.count(user_id) >= RUNNING_PER_USER_MAX:
            raise RateLimited("downloads", AGAIN_S, "There are too many downloads already.")
        if len(self._running) >= RUNNING_MAX:
            raise Overloaded("There are too many downloads already.")

    def response(
        self,
        reader: tuple[str, str],
        name: str,
        watch: AbstractContextManager[trio.Event],
        table: AsyncGenerator[TablePart],
        form: FileForm,
    ) -> TrioResponse:
        """A table as a file called ``name``.

        Args:
            reader: the user's id, and the id that identifies the download for its progress.
            watch: reports when its reader may see no more of it.
        """
        self.refuse(reader[0])
        content = self._content(reader, watch, table, form)
        response = TrioResponse(content, content_type=form.content_type)
        response.timeout = None
        response.headers["content-disposition"] = f'attachment; filename="{name}"'
        response.headers["x-accel-buffering"] = "no"
        return response

    async def _content(
        self,
        reader: tuple[str, str],
        watch: AbstractContextManager[trio.Event],
        table: AsyncGenerator[TablePart],
        form: FileForm,
    ) -> AsyncIterator[bytes]:
        async with aclosing(table):
            self.refuse(reader[0])
            download = self._begin(reader)
            self._running.append(reader[0])
            try:
                with watch as ended:
                    yield form.mark.encode()
                    async for part in table:
                        if ended.is_set():
                            raise Forbidden("The reader may see no more of it.")
                        rows = [part.head, *part.rows] if part.head else part.rows
                        yield "".join([form.line(row) for row in rows]).encode()
                        download.rows += len(part.rows)
                        download.share = part.share
                        download.tell()
                download.state = DownloadState.DONE
            finally:
                if download.state is not DownloadState.DONE:
                    download.state = DownloadState.BROKEN
                self._running.remove(reader[0])
                download.tell()

    def _begin(self, reader: tuple[str, str]) -> Download:
        download = self.expect(*reader)
        self._known.move_to_end(reader)
        download.rows, download.share, download.state = 0, 0.0, DownloadState.RUNNING
        download.tell()
        return download
