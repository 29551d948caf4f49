"""What waits for the store, and the generations that it goes into.

The writer commits pages, which wait here (:class:`WrittenPages`) until they go as a piece upon the
last one (:class:`Chain`). Where the pieces are too many, another whole copy is made beside them
(:class:`NextCopy`), so that no answer waits for it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import structlog

from risala.dataclass import dataclass
from risala.engine.features.standby.stored import pieces, wal
from risala.engine.features.standby.stored.piece_store import Fenced, PieceStore
from risala.engine.features.standby.stored.pieces import EncodedPiece
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageUnusable

KEPT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Pages that wait in memory; with more, the copy begins again."""
_NOWHERE: Final = wal.WalPlace(0, 0)


class WrittenPages:
    """The pages that the database's one writer has committed, until the store gets them. The
    writer's thread and the log's share it."""

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
        """Make a new mark, of something that no piece can have."""
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
        """Take what was gathered beside, as :meth:`take` does."""
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


@dataclass(frozen=True, slots=True)
class Chain:
    """A whole copy and the pieces upon it, each of which names the one before."""

    generation: str
    snapshot: str
    """The whole copy's checksum."""
    size_bytes: int
    """The size of the whole copy."""
    number: int = 0
    sha256: str = ""
    """The last piece's, or the whole copy's."""
    pieces_bytes: int = 0

    def piece(self, part: wal.WalPart, at: int) -> EncodedPiece:
        last = self.sha256 or self.snapshot
        return pieces.encode(self.generation, self.number + 1, at, part, last)

    def after(self, piece: EncodedPiece) -> Chain:
        written = self.pieces_bytes + len(piece.data)
        return replace(self, number=piece.number, sha256=piece.sha256, pieces_bytes=written)


AGAIN_S: Final = 60.0
"""Seconds until another attempt, after one that failed."""

log = structlog.get_logger(__name__)


class NextCopy:
    """A whole copy that is made beside the pieces, one at a time. What is written meanwhile gathers
    in memory beside."""

    def __init__(
        self,
        database: Path,
        written: WrittenPages,
        store: PieceStore,
        clock: Clock,
        span_s: Callable[[], float],
    ) -> None:
        self._database, self._pages, self._store = database, written, store
        self._clock, self._span_s = clock, span_s
        self._thread: threading.Thread | None = None
        self._made: Chain | None = None
        self._again_s = 0.0
        self._is_stale = False
        """Too much was written meanwhile: the copy that is being made is of no use."""

    def begin(self) -> None:
        """Make one, if none is being made, and the last attempt was not just now."""
        if self._thread is not None or self._span_s() < self._again_s:
            return
        self._pages.begin_beside()
        self._again_s = self._span_s() + AGAIN_S
        self._thread = threading.Thread(target=self._make, name="risala-copy", daemon=True)
        self._thread.start()

    def _make(self) -> None:
        generation = pieces.name_of(self._clock.now_ms())
        try:
            self._made = Chain(generation, *self._store.begin(generation, self._database))
        except (OSError, sqlite3.Error, StorageUnusable, Fenced) as error:
            log.warning("standby.copy_failed", reason=str(error))

    def poll(self) -> Chain | None:
        """The copy, once it is there."""
        if self._thread is None:
            return None
        if self._thread.is_alive():
            if self._pages.beside_bytes > KEPT_BYTES_MAX:
                log.warning("standby.copy_failed", reason="too much was written meanwhile")
                self._pages.end_beside()
                self._is_stale = True
            return None
        if self._made is None or self._is_stale:
            self.drop()
        return self._made

    def goes_on(self, copy: Chain) -> Chain:
        """Note how far a copy has come."""
        self._made = copy
        return copy

    def drop(self) -> None:
        """Forget it. One that is being made is waited for: its file is in the next one's way."""
        if self._thread is not None:
            self._thread.join()
        self._thread = self._made = None
        self._is_stale = False
        self._pages.end_beside()
