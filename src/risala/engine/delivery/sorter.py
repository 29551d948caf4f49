"""Sorts queued messages into routes again after carriers have changed: at a start, and while the
service runs."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import trio

from risala.engine.actors.retrying import retry_until_committed
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.delivery.notes import Notes
from risala.engine.journal.messages.waiting import QueueRepository
from risala.engine.model.clock import Clock
from risala.engine.rules.router import CHANNEL_MARK, TEST_ROUTE, USUAL_MARK, Router, plain

ROWS_AT_ONCE: Final = 500
"""Rows that are sorted in one unit."""
AGAIN_S: Final = (1.0, 5.0, 30.0)
"""After a change, a message that was drafted with the former routes may still be on its way to the
disk, or in a worker."""


class Sorter:
    """The sorter of all routes."""

    def __init__(
        self,
        rows: QueueRepository,
        clock: Clock,
        router: Router,
        notes: Notes,
        items: ItemLoop,
    ) -> None:
        """
        Args:
            items: where a queue that breaks is set aside.
        """
        self._items = items
        self._rows = rows
        self._clock = clock
        self._router = router
        self._notes = notes
        self._again: deque[float] = deque()

    def carriers_changed(self) -> None:
        """The routes have changed."""
        now_s = trio.current_time()
        self._again = deque(now_s + after_s for after_s in AGAIN_S)
        self._notes.strays.ring()

    async def run(self) -> None:
        """Sort when it is time, until cancelled; the first time at the start.

        Nothing waits for it: a long queue takes long, and an unsorted message waits on a route that
        no longer exists, or uses a route that was right the last time.
        """
        self._notes.strays.ring()
        while True:
            change_s = self._again[0] if self._again else math.inf
            await self._notes.strays.wait(min(change_s, self._items.again_s))
            while self._again and self._again[0] <= trio.current_time():
                self._again.popleft()
            await retry_until_committed("routes", self._sort)

    async def _sort(self) -> None:
        await sort_again(self._rows, self._clock, self._router, self._items)
        self._notes.queue.load(())
        self._notes.wake()


async def sort_again(rows: QueueRepository, clock: Clock, router: Router, items: ItemLoop) -> None:
    """Sort messages on routes that no longer exist, and those that no carrier served, into the
    present routes; all messages, if the routes differ from those of the last time."""
    now_ms, fingerprint = clock.now_ms(), router.fingerprint
    changed = rows.routes() != fingerprint
    for queue in rows.queues():
        if queue[0].startswith(CHANNEL_MARK):
            continue  # of a channel that is gone too: its messages are no texts for carriers
        known = queue[0] in router.routes
        if known and (not changed or plain(queue[0]).startswith((TEST_ROUTE, "@", USUAL_MARK))):
            continue
        with items.item(queue):
            after: tuple[int, int] | None = (-1, 0)
            while after is not None:
                after = await rows.reroute(queue, after, router.route_key, ROWS_AT_ONCE, now_ms)
    if changed and not items:
        await rows.note_routes(fingerprint)
