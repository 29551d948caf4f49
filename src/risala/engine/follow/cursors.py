"""Every event for consumers that must miss none: each has its own cursor, which is a row.

A consumer gets the events that it follows, in order, and confirms from time to time up to where it
has stored them; only that is written down. So an event is given at least once: after a crash, or if
the consumer failed, again from there. A consumer that is behind costs no memory: what it has not
asked for stays in the outbox.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Final, Generic, Protocol, TypeVar

import trio

from risala.dataclass import dataclass
from risala.engine.actors.alarm import Bell
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.journal.messages.live import EventRepository
from risala.engine.journal.store.named import BrokenRow
from risala.engine.model.clock import Clock
from risala.engine.model.events import EventType
from risala.engine.model.following import (
    EventPage,
    FollowedEvent,
    Owner,
    OwnEvent,
    StoredCursor,
)

COUNTED_MAX: Final = 10_000
"""The most events counted to report how far a consumer is behind: the query must stay cheap."""
SCAN_MAX: Final = 5000
LOOK_S: Final = 30.0
"""Looks for new events at least this often, rung or not; and so seldom keeps its place if all that
happens are events that its consumer does not follow."""
FOLLOWED: Final = tuple(each for each in EventType if each is not EventType.WEBHOOK_TEST)
"""What is followed by default: everything except what is sent by hand to one endpoint."""


@dataclass(frozen=True, slots=True)
class CursorStatus:
    """The progress of a consumer."""

    consumer: str
    behind: int
    """Events that it has not received; counted up to :data:`COUNTED_MAX`."""
    oldest_at: int | None
    """When the oldest of them happened; None: none is behind."""
    missed: int
    """Events that it will never get, because retention deleted them first."""
    missed_at: int | None


class _Placed(Protocol):
    @property
    def seq(self) -> int: ...


E = TypeVar("E", bound=_Placed)
Look = Callable[[StoredCursor, int, int, int, BrokenRow | None], EventPage[E]]
"""The events of a consumer after a key: see :meth:`EventRepository.next_events`."""


class EventCursor(Generic[E]):
    """One consumer's place. One task asks for events; see the module's text."""

    def __init__(
        self,
        stored: StoredCursor,
        look: Look[E],
        events: EventRepository,
        clock: Clock,
        scan_max: int,
        broken: BrokenRow | None = None,
    ) -> None:
        self._stored = stored
        self._look = look
        self._scan_max = scan_max
        self._broken = broken
        self._events = events
        self._clock = clock
        self._looked = stored.seq
        """Events up to here were given, or skipped."""
        self._last_given = stored.seq
        """The number of the last event that was given."""
        self._kept = stored.seq
        self._kept_s = trio.current_time()
        self._bell = Bell()

    @property
    def consumer(self) -> str:
        return self._stored.consumer

    def ring(self) -> None:
        """Wake the reader: there may be new events."""
        self._bell.ring()

    async def next(self, limit: int) -> tuple[E, ...]:
        """The next events, at most so many; waits until there is one.

        They follow the last that this returned, or after a :meth:`rewind` the last that is kept: a
        consumer may ask for the next batch before it has kept one.
        """
        while True:
            page = self._look(self._stored, self._looked, limit, self._scan_max, self._broken)
            self._looked = page.end
            if page.events:
                self._last_given = page.events[-1].seq
                return page.events
            now_s = trio.current_time()
            may_wait = page.is_whole and now_s < self._kept_s + LOOK_S
            if not may_wait and self._last_given <= self._kept < self._looked:
                # Skipped events are not followed: a restart need not look at them again, and
                # retention counts none of them as missed. But what was given before, and is not
                # kept yet, must come again.
                await self.keep(self._looked)
            elif page.is_whole:
                await self._bell.wait(now_s + LOOK_S)

    async def keep(self, seq: int) -> None:
        """The consumer has stored all events up to this one; returns once that is on disk.

        Raises:
            Draining: the service stops; those since the last that was kept come again.
        """
        move = partial(self._events.move_cursor, self.consumer, seq, self._clock.now_ms())
        await retry_until_committed("events.cursor", move)
        self._kept = max(self._kept, seq)
        self._kept_s = trio.current_time()

    def rewind(self) -> None:
        """Give the events again that are not kept."""
        self._looked = self._last_given = self._kept

    def status(self) -> CursorStatus:
        """The consumer's progress; a bounded query."""
        now = self._events.cursor(self.consumer) or self._stored
        count, oldest_at = self._events.behind(now, COUNTED_MAX)
        return CursorStatus(now.consumer, count, oldest_at, now.missed, now.missed_at)


class EventCursors:
    """The cursors of all consumers that are open now.

    Args:
        scan_max: events that one look skips at most, in search of those that are followed: with the
            usual number some milliseconds of the loop.
        broken: told of an event that cannot be read: its consumers go on with the next one.
    """

    def __init__(
        self,
        events: EventRepository,
        clock: Clock,
        scan_max: int = SCAN_MAX,
        broken: BrokenRow | None = None,
    ) -> None:
        self._scan_max = scan_max
        self._broken = broken
        self._events = events
        self._clock = clock
        self._open: dict[str, EventCursor[Any]] = {}

    def wake(self) -> None:
        """Wake all readers: there may be new events."""
        for each in self._open.values():
            each.ring()

    async def open(
        self,
        consumer: str,
        *,
        organization_id: str | None = None,
        types: Collection[EventType] = FOLLOWED,
        from_start: bool = False,
    ) -> EventCursor[FollowedEvent]:
        """Open a consumer's cursor at its last place; made if it does not exist.

        Args:
            consumer: its permanent name: ``sink:warehouse``.
            organization_id: whose events it follows; None: those of all.
            from_start: a new one begins with the oldest event that is kept, not after the latest.

        Raises:
            NotFound: the organization does not exist.
            Unavailable: it could not be written.
        """
        now_ms = self._clock.now_ms()
        stored = await self._events.open_cursor(
            consumer, organization_id, types, now_ms, from_start=from_start
        )
        return self._opened(stored, self._events.next_events)

    async def open_own(
        self, consumer: str, organization_id: str, owner: Owner, types: Collection[EventType]
    ) -> EventCursor[OwnEvent]:
        """As :meth:`open`, of the messages of one key or credential alone, and of texts from phones
        for its organization."""
        stored = await self._events.open_cursor(
            consumer, organization_id, types, self._clock.now_ms(), from_start=False
        )
        return self._opened(stored, partial(self._events.next_own, owner))

    def _opened(self, stored: StoredCursor, look: Look[E]) -> EventCursor[E]:
        cursor = EventCursor(stored, look, self._events, self._clock, self._scan_max, self._broken)
        self._open[stored.consumer] = cursor
        return cursor

    def close(self, consumer: str) -> None:
        """Forget the open cursor of a consumer; new events are still owed to the consumer."""
        self._open.pop(consumer, None)

    async def drop(self, consumer: str) -> None:
        """The consumer is removed: nothing is owed to it, and nothing counted as missed.

        Raises:
            Unavailable: it could not be written.
        """
        self.close(consumer)
        await self._events.drop_cursor(consumer)
