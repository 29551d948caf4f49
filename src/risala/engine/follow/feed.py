"""The feed of events: follows the outbox's rows, so no event is missed, whichever unit wrote it.

Events come from the rows alone; a commit is only the hint to look.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import trio

from risala.engine.actors.alarm import Bell
from risala.engine.actors.broadcast import Broadcast
from risala.engine.actors.set_aside import ItemLoop
from risala.engine.journal.messages.live import EventRepository
from risala.engine.model.following import OutboxEvent

ROWS_AT_ONCE: Final = 500
APART_S: Final = 0.005
"""Seconds between two looks: under load one look serves the commits of five milliseconds."""


class Feed:
    """Follows the outbox.

    Args:
        committed: rung when a unit has reached the disk.
        listeners: called when there were new events.
        items: where an event that breaks is named; its followers go on with the next.
    """

    def __init__(
        self,
        stored: EventRepository,
        committed: Bell,
        items: ItemLoop,
        listeners: Sequence[Callable[[], None]] = (),
    ) -> None:
        self._items = items
        self._stored = stored
        self._committed = committed
        self._listeners = listeners
        self._seq = stored.last_seq()
        self.events: Broadcast[OutboxEvent] = Broadcast()
        """Each event, after its commit, in the order of the outbox."""

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            await self._committed.wait()
            while self._poll():
                for listener in self._listeners:
                    listener()
                await trio.lowlevel.checkpoint()
            await trio.sleep(APART_S)

    def _poll(self) -> bool:
        """Publish new events to the listeners; returns whether there were any."""
        if not self.events.listeners:  # then their content is not needed
            before, self._seq = self._seq, self._stored.last_seq()
            return self._seq > before
        rows = self._stored.after(self._seq, ROWS_AT_ONCE, self._pass_over)
        for event in rows:
            self._seq = max(self._seq, event.seq)
            with self._items.item(event.seq):
                self.events.publish(event)
        return bool(rows)

    def _pass_over(self, seq: str, fault: Exception) -> None:
        """An event cannot be read: it is named, and the feed goes on behind it."""
        self._items.broken_row(seq, fault)
        self._seq = max(self._seq, int(seq))
