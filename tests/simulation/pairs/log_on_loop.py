"""The log that answers wait for, without its thread: its rounds are those of a task, so that the
mock clock times them, and a history is the same each time."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from risala.engine.actors.alarm import Bell
from risala.engine.features.standby.service import StoppedEarly
from risala.engine.features.standby.stored.awaited_log import AwaitedLog
from risala.engine.features.standby.stored.log_sender import Rest
from risala.engine.features.standby.stored.piece_store import PieceStore
from risala.engine.journal.store.transaction import Done, WrittenBatch

if TYPE_CHECKING:
    from tests.simulation.world import World

SPANS_S = (0, 0, 0.001, 0.02)
"""That PostgreSQL takes for a piece."""
LOOK_S = 0.5
"""How often whoever waits looks whether the process is still wanted."""


class LogOnLoop(AwaitedLog):
    """See the module's text. The real one's decisions, and another way to wait."""

    def __init__(
        self,
        world: World,
        dice: random.Random,
        database: Path,
        store: PieceStore,
        copies: PieceStore,
        _: object,
        *,
        answer_wait_s: float,
        every_s: float,
    ) -> None:
        given = {"answer_wait_s": answer_wait_s, "every_s": every_s}
        super().__init__(database, store, copies, world.clock, span_s=trio.current_time, **given)
        self._world, self._dice, self._life = world, dice, world.life
        self._news = Bell()
        self._moved = trio.Event()
        """Another one each time that the store has come further."""

    # -- the thread that is none

    def start(self, fenced: Callable[[str], object]) -> None:
        self._sender._fenced = fenced
        trio.lowlevel.spawn_system_task(self._run)

    async def _run(self) -> None:
        while not self._sender._is_over:
            await trio.sleep(self._dice.choice(SPANS_S))
            if self._sender._is_over:  # no round after the end: it would open the WAL again
                return
            rest = self._sender.round()
            self._moved.set()
            self._moved = trio.Event()
            await self._rest(rest)

    async def _rest(self, rest: Rest) -> None:
        if rest.ends_with_news:
            await self._news.wait(trio.current_time() + rest.span_s)
        elif rest.span_s:
            await trio.sleep(rest.span_s)

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            with trio.move_on_after(LOOK_S):
                await self._moved.wait()

    # -- who waits

    def wait_whole(self) -> Awaitable[None]:  # type: ignore[override]
        """``trio.to_thread.run_sync`` of a history awaits it."""
        return self._whole()

    async def _whole(self) -> None:
        sender = self._sender
        await self._until(
            lambda: sender._chain is not None or sender._is_over or self._world.gone(self._life)
        )
        if self._world.gone(self._life):  # it was killed at its start
            raise StoppedEarly

    def write(self, write: Callable[[], Done]) -> WrittenBatch:
        written = super().write(write)
        self._news.ring()
        return written

    async def logged(self, is_settled: Callable[[], bool]) -> None:
        await self._until(is_settled)

    def settle(self, written: WrittenBatch) -> Done:
        done = super().settle(written)
        self._world.standby.settled()
        return done

    @property
    def has_all(self) -> bool:
        """The store has whatever is written here."""
        is_there = self._held >= self._pages.mark and self._sender._chain is not None
        return is_there and not self.behind

    # -- orders, and the end

    def go_before_answer(self) -> None:
        super().go_before_answer()
        self._news.ring()

    def stop(self) -> None:
        """The writer has waited already."""
        self._reached(None)
        self._sender.stop(0)
        self.close()
        self._news.ring()
