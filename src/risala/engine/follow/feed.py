"""The feed of events: follows the outbox's rows, so that whatever unit wrote one, it is heard of.

The rows are the truth and the only way in; a commit is no more than the hint to look.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import trio

from risala.engine.actors.broadcast import Broadcast
from risala.engine.journal.webhooks import outbox
from risala.engine.model.events import Event

ROWS_AT_ONCE: Final = 500
APART_S: Final = 0.005
"""Between two looks: under load one look serves the commits of five milliseconds."""


class Feed:
    def __init__(self, reader: sqlite3.Connection) -> None:
        self._reader = reader
        self._wake = trio.Event()
        self._seq = outbox.last_seq(reader)
        self.events: Broadcast[Event] = Broadcast()
        """Each event, after its commit, in the order of the outbox."""
        self.listeners: list[Callable[[], None]] = []
        """Called after new events."""

    def committed(self) -> None:
        """Something reached the disk; loop thread only."""
        self._wake.set()

    async def run(self) -> None:
        """Follow for life."""
        while True:
            await self._wake.wait()
            self._wake = trio.Event()
            while rows := outbox.after(self._reader, self._seq, ROWS_AT_ONCE):
                self._seq = rows[-1].seq
                if self.events.listeners:
                    for event in rows:
                        self.events.publish(event)
                for listener in self.listeners:
                    listener()
                await trio.lowlevel.checkpoint()
            await trio.sleep(APART_S)
