"""How many messages are being accepted, and with which idempotency keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

import trio

from risala.dataclass import dataclass
from risala.engine.journal.store.writer import Journal
from risala.engine.model.errors import Draining, Overloaded, StorageFailed
from risala.engine.model.states import Mode

Slot = tuple[str, Mode, str]
"""Organization, mode and idempotency key."""


@dataclass(frozen=True, slots=True)
class IntakeStatistics:
    intake: int
    intake_peak: int
    intake_max: int
    accepted: int


class IntakePlaces:
    """
    Args:
        most: messages that are accepted at the same time, at most.
    """

    def __init__(self, journal: Journal, most: int) -> None:
        self._journal = journal
        self._most = most
        self._inside = self._peak = 0
        self.draining = False

    def statistics(self, accepted: int) -> IntakeStatistics:
        return IntakeStatistics(self._inside, self._peak, self._most, accepted)

    def retune(self, most: int) -> None:
        """Apply a limit that was changed at run time."""
        self._most = most

    @contextmanager
    def inside(self, number: int) -> Iterator[None]:
        """Count so many messages as being accepted, in the block.

        Raises:
            Draining: the service stops.
            StorageFailed: the database cannot be written, or is not the one that was opened.
            Overloaded: too many are being accepted.
        """
        self.let_in(number)
        try:
            yield
        finally:
            self.let_out(number)

    def let_in(self, number: int) -> None:
        """As :meth:`inside`, until :meth:`let_out`."""
        if self.draining:
            raise Draining
        if self._journal.condition.lasts:
            raise StorageFailed
        if self._inside + number > self._most:
            raise Overloaded
        self._inside += number
        self._peak = max(self._peak, self._inside)

    def let_out(self, number: int) -> None:
        self._inside -= number


class KeysUnderWay:
    """The idempotency keys of messages that are being accepted: each is held by one request."""

    def __init__(self) -> None:
        self._held: dict[Slot, trio.Event] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, slot: Slot) -> bool:
        return slot in self._held

    async def wait_free(self, slots: AbstractSet[Slot]) -> None:
        """Wait until none of them is held. No other task runs before the caller goes on."""
        while busy := self._held.keys() & slots:
            await self._held[busy.pop()].wait()

    @contextmanager
    def held(self, slots: Collection[Slot]) -> Iterator[None]:
        """Hold keys that are free, in the block."""
        over = trio.Event()
        self._held.update(dict.fromkeys(slots, over))
        try:
            yield
        finally:
            for slot in slots:
                del self._held[slot]
            over.set()
