"""Segments whose receipt should come: when to ask the carrier about each, if it does not."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.actors.alarm import Bell

ASK_AFTER_S: Final = (3600.0, 6 * 3600.0, 24 * 3600.0)
"""From the carrier's acceptance to each question: most receipts come in seconds, and a phone that
is switched off comes back within a day."""
WAITING_MAX: Final = 50_000
"""Segments that may wait for each question (about 10 MiB); further ones are not asked for."""


@dataclass(frozen=True, slots=True)
class AwaitedReceipt:
    due_s: float
    """When to ask, on Trio's clock."""
    message_id: str
    number: int
    carrier_id: str


class Awaited:
    """The segments of one worker, in memory: :class:`~risala.engine.delivery.queries.Queries` finds
    them again after a restart."""

    def __init__(self, *, is_asked: bool) -> None:
        self._is_asked = is_asked
        """False if the driver cannot be asked: then nothing is kept."""
        self._waiting = tuple(deque[AwaitedReceipt]() for _ in ASK_AFTER_S)
        self._bell = Bell()

    def expect(self, message_id: str, number: int, carrier_id: str) -> None:
        """A segment was accepted: its receipt should come."""
        if carrier_id and self._is_asked:
            self.put(0, message_id, number, carrier_id)

    def put(self, step: int, message_id: str, number: int, carrier_id: str) -> None:
        """Keep it for the question of this step; does nothing if too many wait."""
        waiting = self._waiting[step]
        if len(waiting) >= WAITING_MAX:
            return
        before_s = ASK_AFTER_S[step - 1] if step else 0.0
        due_s = trio.current_time() + ASK_AFTER_S[step] - before_s
        waiting.append(AwaitedReceipt(due_s, message_id, number, carrier_id))
        if len(waiting) == 1:
            self._bell.ring()

    def put_first(self, recalled_by_step: Iterable[Iterable[AwaitedReceipt]]) -> None:
        """Put them, by steps, before those accepted meanwhile: they fall due sooner."""
        for waiting, recalled in zip(self._waiting, recalled_by_step, strict=True):
            waiting.extendleft(sorted(recalled, key=lambda one: one.due_s, reverse=True))

    def due(self) -> Iterator[tuple[int, AwaitedReceipt]]:
        """Remove and return the due ones, one after another, each with its step."""
        for step, waiting in enumerate(self._waiting):
            while waiting and waiting[0].due_s <= trio.current_time():
                yield step, waiting.popleft()

    async def wait(self) -> None:
        """Wait until something is due, or the nearest due time changes."""
        due_s = min((one[0].due_s for one in self._waiting if one), default=float("inf"))
        await self._bell.wait(due_s)
