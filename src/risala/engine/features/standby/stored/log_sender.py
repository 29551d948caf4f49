"""The log's own thread: it puts whole copies and pieces into the store.

Any doubt begins a new generation, and nothing is answered before it stands. A piece whose insertion
failed is looked for. If it is not there, the very same piece is put again: the store takes it once,
and only upon the piece before it.
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
from risala.engine.features.standby.stored.chain import Chain, NextCopy, WrittenPages
from risala.engine.features.standby.stored.piece_store import Fenced, PieceStore, Spoilt
from risala.engine.features.standby.stored.pieces import Current, EncodedPiece, Shipped
from risala.engine.model.clock import Clock
from risala.engine.model.errors import StorageUnusable

PIECES_BYTES_MAX: Final = 1024 * 1024 * 1024
"""When the pieces exceed the copy by this much, the next copy is made beside them. A busy service
writes some megabytes a second: so that is once in several minutes."""
PIECES_BYTES_END: Final = 4
"""How many times that the pieces may take until answers wait for the new copy: the store's room has
a bound."""
AGAIN_S: Final = 0.5
"""Seconds until a failed store is tried again: answers wait for it."""
SWITCH_BYTES: Final = 1024 * 1024
"""The next generation takes over when it lacks no more than this: answers wait for that part."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Away:
    """A piece that the store was given and has not confirmed."""

    piece: EncodedPiece
    mark: int
    """The mark of the last pages in it."""
    is_doubtful: bool = False
    """Whether it was tried before, so that it may be there."""


@dataclass(frozen=True, slots=True)
class SenderProgress:
    chain: Chain | None
    """None: no whole copy stands."""
    awaited: bool
    """The mark in the store."""
    complete_s: float
    """When the store had everything that was written, on the sender's clock."""
    failing: str | None
    room_bytes: int


@dataclass(frozen=True, slots=True)
class Rest:
    """What the thread does until its next round."""

    span_s: float
    ends_with_news: bool = False


NO_REST: Final = Rest(0)


class LogSender:
    """See the module's text."""

    def __init__(
        self,
        database: Path,
        written: WrittenPages,
        stores: tuple[PieceStore, PieceStore],
        clock: Clock,
        reached: Callable[[int | None], None],
        awaits: Callable[[], bool],
        *,
        every_s: float,
        again_s: float,
        pieces_bytes_max: int,
        span_s: Callable[[], float],
    ) -> None:
        """
        Args:
            stores: for pieces; and for whole copies and orders.
            reached: told up to which mark the store has the pages; None: it takes nothing more.
            awaits: whether answers wait.
        """
        self._database, self._pages, self._clock = database, written, clock
        self._store, self._copies = stores
        self._reached, self._awaits = reached, awaits
        self._every_s, self._again_s, self._span_s = every_s, again_s, span_s
        self._pieces_bytes_max = pieces_bytes_max
        self._changed = threading.Condition()
        """Guards what is waited for: news, the end, the chain."""
        self._is_new = self._is_over = False
        self._marking = threading.Lock()
        """Held by whoever publishes, or changes the mark."""
        self._awaited = False
        self._orders = 0
        """Counts the orders to go on without waiting."""
        self._doubt: str | None = None
        self._chain: Chain | None = None
        self._away: _Away | None = None
        self._confirmed = 0
        self._next = NextCopy(database, written, self._copies, clock, span_s)
        self._at = clock.now_ms()
        self._noted_s = self._complete_s = span_s()
        self._failing: str | None = None
        self._thread: threading.Thread | None = None
        self._fenced: Callable[[str], object] = _ignored

    # -- from other threads

    def start(self, fenced: Callable[[str], object]) -> None:
        """Begin; ``fenced`` is told why the store takes nothing more from this machine."""
        self._fenced = fenced
        self._thread = threading.Thread(target=self._run, name="risala-log", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Wake the thread: there is something to put."""
        with self._changed:
            self._is_new = True
            self._changed.notify_all()

    def doubt(self, reason: str) -> int:
        """Pages may be missing: begin a new generation. Returns the mark that it will reach."""
        self._doubt = reason  # before the mark: whoever takes that sees the doubt too
        return self._pages.bump()

    def wait_whole(self) -> None:
        """Return once a whole copy stands, or the end has come."""
        with self._changed:
            while self._chain is None and not self._is_over:
                self._changed.wait()

    def mark_async(self, patience_s: float) -> None:
        """Tell the store that answers do not wait.

        Raises:
            OSError: it does not take that.
            Fenced: this machine may not write any more.
        """
        if not self._marking.acquire(timeout=patience_s):
            raise OSError("An earlier order to it has no answer yet.")
        try:
            self._orders += 1
            self._copies.mark_awaited(awaited=False)
            self._awaited = False
        finally:
            self._marking.release()

    def progress(self) -> SenderProgress:
        chain = self._chain
        room = 0 if chain is None else chain.size_bytes + chain.pieces_bytes
        return SenderProgress(chain, self._awaited, self._complete_s, self._failing, room)

    def _end(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def stop(self, patience_s: float) -> None:
        self._end()
        if self._thread is not None:
            self._thread.join(patience_s)

    # -- the thread

    def _run(self) -> None:
        while not self._is_over:
            self._rest(self.round())

    def round(self) -> Rest:
        """Put what waits, or a whole copy if none stands; what to do until the next round."""
        try:
            if self._chain is None or self._doubt is not None:
                self._begin()
                return NO_REST
            return self._go_on(self._chain)
        except Fenced as error:
            self._failed(error)
            self._fenced(str(error))
            self._reached(None)
            self._end()
        except (Spoilt, wal.Gap) as error:
            self._failed(error)
            self._doubt = str(error)
        except (OSError, sqlite3.Error, StorageUnusable) as error:
            self._failed(error)
            return Rest(self._again_s)
        except Exception as bug:
            # Without this thread no answer would ever leave, and nobody would know why.
            log.exception("standby.bug")
            self._failing, self._doubt = repr(bug), "a bug"
            return Rest(self._again_s)
        return NO_REST

    def _failed(self, error: Exception) -> None:
        if self._failing != str(error):
            log.warning("standby.failing", reason=str(error))
        self._failing = str(error)

    def _rest(self, rest: Rest) -> None:
        with self._changed:
            if rest.ends_with_news:
                if not self._is_new and not self._is_over:
                    self._changed.wait(rest.span_s)
                self._is_new = False
            elif rest.span_s and not self._is_over:
                self._changed.wait_for(lambda: self._is_over, rest.span_s)

    def _begin(self) -> None:
        """Put a whole copy, and what was written meanwhile."""
        self._next.drop()
        with self._changed:
            self._chain = self._away = None
        with self._pages.writing:
            self._doubt = None
            self._pages.forget()
        generation = pieces.name_of(self._clock.now_ms())
        chain = Chain(generation, *self._copies.begin(generation, self._database))
        orders = self._orders
        with self._pages.writing:
            self._at = self._clock.now_ms()
            self._pages.read()
            part, mark = self._pages.take()
        if self._is_in_doubt():
            return
        piece = chain.piece(part, self._at)
        self._store.add(piece)
        self._stand(chain.after(piece), mark, orders)
        log.info("standby.copied", generation=generation)

    def _is_in_doubt(self) -> bool:
        """Whether the writer has found a doubt meanwhile."""
        return self._doubt is not None

    def _stand(self, chain: Chain, mark: int, orders: int) -> None:
        """Let standbys use this generation from here on."""
        with self._marking:
            awaited = self._awaits() and orders == self._orders
            current = Current(chain.generation, chain.snapshot)
            shipped = Shipped(chain.generation, chain.number, self._at)
            self._store.publish(current, shipped, awaited=awaited)
            self._awaited = awaited
        with self._changed:
            self._chain = chain
            self._changed.notify_all()
        self._confirm(mark)

    def _confirm(self, mark: int) -> None:
        if not self._pages.waits:
            self._complete_s = self._span_s()
        self._failing = None
        self._confirmed = max(self._confirmed, mark)
        self._reached(mark)

    def _go_on(self, chain: Chain) -> Rest:
        """Put what waits, then look after the rest."""
        away = self._away or self._next_piece(chain)
        if away is not None:
            self._put(chain, away)
        if self._doubt is None and self._away is None and self._chain is not None:
            self._tend(self._chain)
        if away is not None or self._doubt is not None:
            return NO_REST
        return Rest(self._every_s, ends_with_news=True)

    def _next_piece(self, chain: Chain) -> _Away | None:
        """The next piece; None: nothing waits."""
        if not self._pages.waits:
            return None
        at = self._clock.now_ms()
        part, mark = self._pages.take()
        if self._doubt is not None:  # its pages may be out of order: the next copy has them
            return None
        self._at = at
        self._away = _Away(chain.piece(part, at), mark)
        return self._away

    def _put(self, chain: Chain, away: _Away) -> None:
        if self._pages.is_too_much:
            raise wal.Gap("the store has accepted nothing for a long time")
        self._away = replace(away, is_doubtful=True)
        if not (away.is_doubtful and self._store.has(away.piece)):
            self._store.add(away.piece)
        self._away = None
        self._chain = chain.after(away.piece)
        self._confirm(away.mark)

    def _tend(self, chain: Chain) -> None:
        """What is due now and then: the note for standbys, the mark, the next copy."""
        if self._span_s() - self._noted_s >= self._every_s:
            self._note(chain)
        if self._awaits() and not self._awaited:
            self._mark_awaited()
        limit = chain.size_bytes + self._pieces_bytes_max
        if chain.pieces_bytes >= chain.size_bytes + PIECES_BYTES_END * self._pieces_bytes_max:
            raise wal.Gap("no copy could be made beside the pieces, which are too many now")
        if chain.pieces_bytes >= limit:
            self._next.begin()
        if (copy := self._next.poll()) is not None:
            self._switch(copy)

    def _note(self, chain: Chain) -> None:
        if self._pages.writing.acquire(blocking=False):
            try:  # nothing is being written: if nothing waits, the copy is of now
                if not self._pages.waits:
                    self._at, self._complete_s = self._clock.now_ms(), self._span_s()
            finally:
                self._pages.writing.release()
        self._store.note(Shipped(chain.generation, chain.number, self._at))
        self._failing = None
        self._noted_s = self._span_s()

    def _mark_awaited(self) -> None:
        """Answers wait again. As soon as the store has all that left without waiting, it may say
        so."""
        orders, mark = self._orders, self._pages.mark
        if self._pages.waits or self._confirmed < mark:
            return
        with self._marking:
            if self._awaits() and orders == self._orders:
                self._copies.mark_awaited(awaited=True)
                self._awaited = True

    def _switch(self, copy: Chain) -> None:
        """Go on with the next generation, once it lacks little."""
        part, _ = self._pages.take_beside()
        if part.pages:
            piece = copy.piece(part, self._clock.now_ms())
            try:
                self._copies.add(piece)
            except OSError as error:
                log.warning("standby.copy_failed", reason=str(error))
                self._next.drop()
                return
            copy = self._next.goes_on(copy.after(piece))
            if len(part.pages) * part.page_bytes > SWITCH_BYTES:
                return
        orders = self._orders
        try:
            with self._pages.writing:
                self._at = self._clock.now_ms()
                part, mark = self._pages.take_beside()
                self._pages.take()  # the same, and the last of them
                piece = copy.piece(part, self._at)
                self._store.add(piece)
                self._stand(copy.after(piece), mark, orders)
        except OSError as error:
            raise Spoilt(str(error)) from error
        self._next.drop()
        log.info("standby.copied", generation=copy.generation)


def _ignored(reason: str) -> None:
    """Before the start nobody is fenced."""
