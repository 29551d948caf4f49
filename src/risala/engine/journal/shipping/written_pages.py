"""The pages that the database's one writer has committed, until the store gets them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from risala.engine.journal.shipping import wal

KEPT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Pages that wait in memory; with more, the copy begins again."""
_NOWHERE: Final = wal.WalPlace(0, 0)


class WrittenPages:
    """The writer's thread and the log's share it."""

    def __init__(self, database: Path) -> None:
        self.writing = threading.Lock()
        """Held by whoever writes to the database, or reads what was written."""
        self._lock = threading.Lock()
        """Guards all below, for moments."""
        self._database = database
        self._tail = wal.WalTail(database)
        self._page_bytes = self._database_pages = 0
        self._pages: dict[int, bytes] = {}
        self._beside: dict[int, bytes] | None = None
        self.mark = 0
        """Counts the reads that have found something."""

    def read(self, *, is_sure: bool = False) -> int:
        """Read what was committed since, under :attr:`writing`; the present mark.

        Args:
            is_sure: every commit since the last read succeeded: then the file tells all.

        Raises:
            Gap: it cannot be known any more.
            sqlite3.Error, OSError: the disk refuses.
        """
        self._tail.read(is_sure=is_sure)
        part = self._tail.part()
        self._tail.forget()
        if part.pages:
            with self._lock:
                self._page_bytes, self._database_pages = part.page_bytes, part.database_pages
                self._pages.update(part.pages)
                if self._beside is not None:
                    self._beside.update(part.pages)
                self.mark += 1
        return self.mark

    def forget(self) -> None:
        """A whole copy that is made from now on has all of it. Under :attr:`writing`.

        Raises:
            sqlite3.Error, OSError: the disk refuses.
        """
        self._tail.close()
        self._tail = wal.WalTail(self._database)  # whatever was missed does not matter any more
        self.read()
        with self._lock:
            self._pages, self._beside = {}, None

    def close(self) -> None:
        """Nothing is read any more. Under :attr:`writing`."""
        self._tail.close()

    def bump(self) -> int:
        """Another mark, of something that no piece can have."""
        with self._lock:
            self.mark += 1
            return self.mark

    def take(self) -> tuple[wal.WalPart, int]:
        """All that waits, which then waits no longer; and the mark of its last."""
        with self._lock:
            pages, self._pages = self._pages, {}
            return self._part(pages), self.mark

    @property
    def waits(self) -> bool:
        return bool(self._pages)

    @property
    def is_too_much(self) -> bool:
        """More waits than memory is for."""
        return len(self._pages) * self._page_bytes > KEPT_BYTES_MAX

    # -- a second copy of what comes from now on, for the next generation

    def begin_beside(self) -> None:
        with self._lock:
            self._beside = {}

    def end_beside(self) -> None:
        with self._lock:
            self._beside = None

    def take_beside(self) -> tuple[wal.WalPart, int]:
        """As :meth:`take`, of what was gathered beside."""
        with self._lock:
            pages, self._beside = self._beside or {}, {}
            return self._part(pages), self.mark

    @property
    def beside_bytes(self) -> int:
        return len(self._beside or ()) * self._page_bytes

    def _part(self, pages: dict[int, bytes]) -> wal.WalPart:
        if not pages:
            return wal.WalPart(_NOWHERE, 0, 0, {})
        return wal.WalPart(_NOWHERE, self._page_bytes, self._database_pages, pages)
