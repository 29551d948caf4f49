"""Ships all writes to a directory that a standby reads: a whole copy, then each change."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import structlog
import trio

from risala.engine.journal.shipping import pieces, wal
from risala.engine.journal.shipping.pieces import Current, Shipped
from risala.engine.journal.shipping.status import ShippingStatus
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.writer import Journal
from risala.engine.journal.upkeep import backup, checksum
from risala.engine.model.clock import Clock
from risala.engine.model.errors import EngineError, StorageUnusable

T = TypeVar("T")

WAL_BYTES_MAX: Final = 256 * 1024 * 1024
"""If the directory fails until the WAL has grown to this size, SQLite folds it in by itself again:
the service's disk comes first, and the copy begins again later."""
PIECES_BYTES_MAX: Final = 256 * 1024 * 1024
"""When the pieces exceed the copy by this much, it begins again: new standbys then read less."""
KEPT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Pages that wait in memory while the directory fails; with more the copy begins again later."""
AGAIN_S: Final = 5.0
"""Seconds until a failed directory is tried again."""

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


class Shipper:
    """Begins a new generation at each start, and in any doubt."""

    def __init__(
        self,
        journal: Journal,
        directory: Path,
        clock: Clock,
        every_s: float,
        *,
        standing: ShippingStatus | None = None,
        again_s: float = AGAIN_S,
    ) -> None:
        self._journal = journal
        self._directory = directory
        self._clock = clock
        self._every_s = every_s
        self._standing = standing or ShippingStatus()
        self._again_s = again_s
        self._given_up = False
        """The WAL was released meanwhile, so that there is a gap."""
        self._stopping = trio.Event()

    async def run(self) -> None:
        """Ship until cancelled, and then the last writes too, for :data:`LAST_S` at most. Errors of
        the directory are logged, and the work is tried again."""
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
        """Keep a hanging directory from filling the service's own disk."""
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
        """As :meth:`_ship`; what cannot be shipped now is kept for the next time.

        Raises:
            Gap: too much has gathered, or the generation has to end.
        """
        try:
            return await self._ship(sent, tail)
        except EngineError as error:
            self._failed(error)  # full, or the disk refuses
        except OSError as error:
            self._failed(error)
            if tail.retained_bytes > KEPT_BYTES_MAX:
                raise wal.Gap("the directory has accepted nothing for a long time") from error
            if await _in_thread(partial(self._is_spoilt, sent)):
                raise wal.Gap("the generation is no longer complete") from error
            await self._pause(self._again_s)
        return sent

    def _failed(self, error: Exception) -> None:
        log.warning("standby.failing", reason=str(error))
        self._standing.failed(str(error))

    def _is_spoilt(self, sent: _Sent) -> bool:
        """Whether the generation is gone while its directory exists, or has a piece of which it is
        unknown whether a standby has seen it."""
        place = pieces.folder(self._directory, sent.generation)
        if not place.exists():
            return self._directory.exists()
        return pieces.file_of(self._directory, sent.generation, sent.number + 1).exists()

    async def _ship(self, sent: _Sent, tail: wal.WalTail) -> _Sent:
        """Ship the writes since the last time, or the note that there were none."""
        at, at_s = self._clock.now_ms(), trio.current_time()
        await self._journal.commit(tail.turn)
        part = tail.part()
        if part.pages:
            sent = await _in_thread(partial(self._add, sent, part, at))
            tail.forget()
        note = Shipped(sent.generation, sent.number, at)
        await _in_thread(partial(pieces.put_note, self._directory / pieces.SHIPPED, note))
        self._standing.reached(at_s)
        return sent

    async def _begin(self, tail: wal.WalTail) -> _Sent:
        generation = pieces.name_of(self._clock.now_ms())
        await self._journal.commit(tail.turn)
        tail.forget()  # the copy that is made now has all of it
        place = pieces.folder(self._directory, generation)
        sha256, size = await _in_thread(partial(self._snapshot, place))
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

    def _snapshot(self, place: Path) -> tuple[str, int]:
        # The remains of an unpublished attempt would keep the missing space for ever.
        with suppress(pieces.BadPiece):  # if the good one is unknown, all stay
            self._tidy(pieces.current(self._directory))
        # The directory itself is not created: if it is missing, something is not mounted.
        place.mkdir(mode=0o700)
        target = place / pieces.SNAPSHOT
        descriptor = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with closing(open_reader(self._journal.path)) as source:
                backup.copy(source, target, _unheard)
            os.fsync(descriptor)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        backup.sync_directory(place)
        return checksum.of_file(target, _unheard), size

    def _add(self, sent: _Sent, part: wal.WalPart, at: int) -> _Sent:
        number = sent.number + 1
        sha256 = pieces.write(self._directory, sent.generation, number, at, part, sent.sha256)
        written = pieces.file_of(self._directory, sent.generation, number).stat().st_size
        return replace(sent, number=number, sha256=sha256, bytes=sent.bytes + written)

    def _publish(self, sent: _Sent, snapshot: str, at: int) -> None:
        """From here on standbys use this generation; older ones are deleted."""
        current = Current(sent.generation, snapshot)
        pieces.put_note(self._directory / pieces.CURRENT, current)
        note = Shipped(sent.generation, sent.number, at)
        pieces.put_note(self._directory / pieces.SHIPPED, note)
        self._tidy(current)

    def _tidy(self, current: Current | None) -> None:
        """Delete all generations except the one in use."""
        kept = None if current is None else pieces.folder(self._directory, current.generation)
        for each in self._directory.glob("gen-*"):
            if each != kept:
                shutil.rmtree(each, ignore_errors=True)


async def _in_thread(work: Callable[[], T]) -> T:
    """A stop does not wait for a hanging directory; a half-written file is never published."""
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)


def _unheard(step: str, done: int, total: int) -> None:
    pass
