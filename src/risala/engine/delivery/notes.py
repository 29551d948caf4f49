"""Notes that the rest of the loop leaves for the scheduler, synchronously.

They survive a crashed scheduler, and many notes become one: however many sends are accepted between
two turns of the loop, the scheduler's mailbox has one ``Pump``.
"""

from __future__ import annotations

from collections.abc import Callable

import trio

from risala.engine.actors.alarm import Bell
from risala.engine.delivery.fairqueue import FairQueue
from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.journal.store.named import BrokenRow
from risala.engine.model.records.messages import Change, DueRow


class Notes:
    """
    Args:
        is_route: whether a route exists with the present carriers.
        broken: told of rows of the queue that are no message.
    """

    def __init__(
        self,
        rows: QueueRepository,
        buffer_rows_max: int,
        is_route: Callable[[str], bool],
        broken: BrokenRow | None = None,
    ) -> None:
        self.queue = FairQueue(rows, buffer_rows_max, broken)
        self.strays = Bell()
        """Rings when a message waits on a route that no longer exists."""
        self._is_route = is_route
        self._bell = Bell()
        self._onlookers = trio.lowlevel.ParkingLot()

    def pending(self, change: Change) -> None:
        """A message waits in the queue."""
        due_at = change.due_at or 0
        self.queue.hint(change.route, change.priority, change.organization_id, due_at)
        if not self._is_route(change.route):
            self.strays.ring()
        self.wake()

    def put_back(self, row: DueRow) -> None:
        """A message comes back unsent, with its due time unchanged."""
        self.queue.release(row.id)
        self.queue.hint(row.route, row.priority, row.organization_id, row.due_at)
        if not self._is_route(row.route):
            self.strays.ring()
        self.wake()

    def wake(self) -> None:
        """Something has changed: the scheduler should look."""
        self._bell.ring()
        if self._onlookers:
            self._onlookers.unpark_all()

    async def wait_change(self) -> None:
        """Wait for the next note of any kind."""
        await self._onlookers.park()

    async def wait(self, deadline_s: float) -> None:
        """Wait until :meth:`wake` is called, or until the deadline on Trio's clock."""
        await self._bell.wait(deadline_s)
