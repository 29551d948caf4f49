"""A whole copy that is made beside the pieces, so that no answer waits for it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog

from risala.engine.journal.shipping import pieces
from risala.engine.journal.shipping.chain import Chain
from risala.engine.journal.shipping.piece_store import Fenced, PieceStore
from risala.engine.journal.shipping.written_pages import KEPT_BYTES_MAX, WrittenPages
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageUnusable

AGAIN_S: Final = 60.0
"""Seconds until another attempt, after one that failed."""

log = structlog.get_logger(__name__)


class NextCopy:
    """One at a time. What is written meanwhile gathers in memory beside."""

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
        """It has come so far."""
        self._made = copy
        return copy

    def drop(self) -> None:
        """Forget it. One that is being made is waited for: its file is in the next one's way."""
        if self._thread is not None:
            self._thread.join()
        self._thread = self._made = None
        self._is_stale = False
        self._pages.end_beside()
