"""Ships all writes to where a standby reads them: a whole copy, then each change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.features.standby.stored import pieces, wal
from risala.engine.features.standby.stored.piece_store import Fenced, PieceStore, Spoilt
from risala.engine.features.standby.stored.pieces import Current, Shipped
from risala.engine.features.standby.stored.shipping_status import ShippingStatus
from risala.engine.journal.store.writer import Journal
from risala.engine.model.clock import Clock
from risala.engine.model.errors import EngineError, StorageUnusable

T = TypeVar("T")

WAL_BYTES_MAX: Final = 256 * 1024 * 1024
"""If the store fails until the WAL has grown to this size, SQLite folds it in by itself again:
the service's disk comes first, and the copy begins again later."""
PIECES_BYTES_MAX: Final = 256 * 1024 * 1024
"""When the pieces exceed the copy by this much, it begins again: new standbys then read less."""
KEPT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Pages that wait in memory while the store fails; with more the copy begins again later."""
AGAIN_S: Final = 5.0
"""Seconds until a failed store is tried again."""

LAST_S: Final = 3.0
"""Seconds that a stop waits for what is under way and for the last writes."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Sent:
    """The progress of a generation."""

    generation: str
    number: int
    sha256: str
    bytes: int
    """Bytes of all pieces together."""
    limit_bytes: int
    """Beyond this another generation begins."""


def fenced_by_nobody(reason: str) -> None:
    """Do nothing: the store takes whatever it gets."""


class Shipper:
    """Begins a new generation at each start, and in any doubt."""

    def __init__(
        self,
        journal: Journal,
        store: PieceStore,
        clock: Clock,
        every_s: float,
        *,
        standing: ShippingStatus | None = None,
        again_s: float = AGAIN_S,
        fenced: Callable[[str], object] = fenced_by_nobody,
    ) -> None:
        """``fenced`` is told when the store takes nothing more from this machine, with the reason:
        another may send, so that this one has to end."""
        self._journal = journal
        self._store = store
        self._fenced = fenced
        self._clock = clock
        self._every_s = every_s
        self._standing = standing or ShippingStatus()
        self._again_s = again_s
        self._given_up = False
        """The WAL was released meanwhile, so that there is a gap."""
        self._stopping = trio.Event()

    async def run(self) -> None:
        """Ship until cancelled, and then the last writes too, for :data:`LAST_S` at most. Errors of
        the store are logged, and the work is tried again."""
        self._standing.begin()
        self._stopping = trio.Event()  # the supervisor may run it again
        to_the_end = trio.CancelScope(shield=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._guard)
            nursery.start_soon(self._stop_within, to_the_end)
            with to_the_end:
                while not self._stopping.is_set():
                    try:
                        await self._generation()
                    except (OSError, StorageUnusable, wal.Gap, EngineError) as error:
                        self._failed(error)
                        await self._pause(self._again_s)
                    except Fenced as error:
                        self._failed(error)
                        self._fenced(str(error))
                        await self._pause(self._again_s)
            await trio.sleep_forever()

    async def _stop_within(self, to_the_end: trio.CancelScope) -> None:
        """When cancelled, give the shipping so long: a stop in the middle of a piece would leave
        out all writes after the one before it."""
        try:
            await trio.sleep_forever()
        finally:
            to_the_end.deadline = trio.current_time() + LAST_S
            self._stopping.set()

    async def _pause(self, length_s: float) -> None:
        with trio.move_on_after(length_s):
            await self._stopping.wait()

    async def _guard(self) -> None:
        """Keep a hanging store from filling the service's own disk."""
        path = wal.beside(self._journal.path)
        while True:
            await trio.sleep(1)
            try:
                grown = path.stat().st_size > WAL_BYTES_MAX
            except OSError:
                continue
            if grown and not self._given_up:
                self._given_up = True
                log.error("standby.given_up", wal_bytes=path.stat().st_size)
                try:
                    await self._journal.commit(wal.automatic)
                except EngineError:
                    self._given_up = False  # the storage has a fault: checked again

    async def _generation(self) -> None:
        """Ship a whole copy, and pieces for it until they are too many, something fails, or it is
        stopped: then one more piece."""
        self._given_up = False
        await self._journal.commit(wal.manual)
        doubts = self._journal.doubts
        tail = wal.WalTail(self._journal.path)
        sent = await self._begin(tail)
        log.info("standby.copied", generation=sent.generation)
        is_last = False
        while not is_last and (sent.bytes < sent.limit_bytes or self._stopping.is_set()):
            if self._given_up or self._journal.doubts != doubts:
                raise wal.Gap("SQLite has merged the WAL by itself, or a commit is in doubt")
            is_last = self._stopping.is_set()
            sent = await self._ship_or_wait(sent, tail)
            await self._pause(self._every_s)

    async def _ship_or_wait(self, sent: _Sent, tail: wal.WalTail) -> _Sent:
        """Ship as :meth:`_ship` does; what cannot be shipped now is kept for the next time.

        Raises:
            Gap: too much has gathered, or the generation has to end.
        """
        try:
            return await self._ship(sent, tail)
        except EngineError as error:
            self._failed(error)  # full, or the disk refuses
        except Spoilt as error:
            raise wal.Gap(str(error)) from error
        except OSError as error:
            self._failed(error)
            if tail.retained_bytes > KEPT_BYTES_MAX:
                raise wal.Gap("the store has accepted nothing for a long time") from error
            if await self._is_spoilt(sent):
                raise wal.Gap("the generation is no longer complete") from error
            await self._pause(self._again_s)
        return sent

    def _failed(self, error: Exception) -> None:
        log.warning("standby.failing", reason=str(error))
        self._standing.failed(str(error))

    async def _is_spoilt(self, sent: _Sent) -> bool:
        """Whether the generation cannot go on; not while the store cannot say so."""
        work = partial(self._store.is_spoilt, sent.generation, sent.number + 1)
        try:
            return await _in_thread(work)
        except OSError:
            return False

    async def _ship(self, sent: _Sent, tail: wal.WalTail) -> _Sent:
        """Ship the writes since the last time, or the note that there were none."""
        at, at_s = self._clock.now_ms(), trio.current_time()
        await self._journal.commit(tail.turn)
        part = tail.part()
        if part.pages:
            sent = await _in_thread(partial(self._add, sent, part, at))
            tail.forget()
        note = Shipped(sent.generation, sent.number, at)
        await _in_thread(partial(self._store.note, note))
        self._standing.reached(at_s)
        return sent

    async def _begin(self, tail: wal.WalTail) -> _Sent:
        generation = pieces.name_of(self._clock.now_ms())
        await self._journal.commit(tail.turn)
        tail.forget()  # the copy that is made now has all of it
        sha256, size = await _in_thread(partial(self._snapshot, generation))
        at, at_s = self._clock.now_ms(), trio.current_time()
        # The copy is of some time after the former turn. With all later changes applied, it is of
        # this time.
        await self._journal.commit(tail.turn)
        sent = _Sent(generation, 0, sha256, 0, size + PIECES_BYTES_MAX)
        sent = await _in_thread(partial(self._add, sent, tail.part(), at))
        tail.forget()
        await _in_thread(partial(self._publish, sent, sha256, at))
        self._standing.reached(at_s)
        return sent

    def _snapshot(self, generation: str) -> tuple[str, int]:
        return self._store.begin(generation, self._journal.path)

    def _add(self, sent: _Sent, part: wal.WalPart, at: int) -> _Sent:
        number = sent.number + 1
        piece = pieces.encode(sent.generation, number, at, part, sent.sha256)
        self._store.add(piece)
        written = sent.bytes + len(piece.data)
        return replace(sent, number=number, sha256=piece.sha256, bytes=written)

    def _publish(self, sent: _Sent, snapshot: str, at: int) -> None:
        """Let standbys use this generation from here on."""
        current = Current(sent.generation, snapshot)
        self._store.publish(current, Shipped(sent.generation, sent.number, at))


async def _in_thread(work: Callable[[], T]) -> T:
    """A stop does not wait for a hanging store; a half-written file is never published."""
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
