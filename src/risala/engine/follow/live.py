"""Streams events to a reader as they happen; what a slow reader missed is read from the rows.

A reader has a short queue. When that is full, only two things are kept for the reader: which
messages changed, and after which event the gap begins. The reader gets a notice that it lagged
(:class:`Lagged`), and then from the journal each event that it missed, and the present state of
each of those messages. A reader that comes back with its last position is served in the same way.
If that would be too much, the reader is asked to read everything again (:class:`Reset`). So no
reader blocks anything, and none costs more memory than its queue.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.actors.broadcast import Broadcast
from risala.engine.journal.messages.live import EventRepository
from risala.engine.journal.store.named import BrokenRow
from risala.engine.model.clock import Clock
from risala.engine.model.following import Lagged, LifeEvent, OutboxEvent, Ready, Reset, Told, What

QUEUE_MAX: Final = 1000
"""Values that wait for one reader."""
MISSED_MESSAGES_MAX: Final = 5000
"""Missed messages whose present state is sent; more than a person reads, or a page shows."""
MISSED_EVENTS_MAX: Final = 50_000
"""Rows of the outbox, of all organizations, that are searched for one reader."""
CHANGED_ROWS_MAX: Final = 1000
"""Rows of each kind that are searched for messages that changed while a reader was away."""
ROWS_AT_ONCE: Final = 500
MESSAGES_AT_ONCE: Final = 50
TIME_DIGITS_MAX: Final = 15
SLACK_MS: Final = 5000
"""Changes are sent after their commit, hardly ever in the exact order of their times."""

_TOO_MUCH: Final = Reset("Too much has changed in the meantime. Read everything again.")
_NOT_KNOWN: Final = Reset(
    "The changes since your last read are no longer kept. Read everything again."
)


@dataclass(slots=True)
class _Missed:
    """What a reader missed while its queue was full."""

    lost: int = 0
    after_seq: int | None = None
    """Number of the event before the first missing one; None: no event is missing."""
    messages: dict[str, None] = field(default_factory=dict)
    too_much: bool = False

    def note(self, value: OutboxEvent | LifeEvent) -> None:
        self.lost += 1
        if isinstance(value, OutboxEvent):
            if self.after_seq is None:
                self.after_seq = value.seq - 1
        elif len(self.messages) < MISSED_MESSAGES_MAX:
            self.messages[value.message_id] = None
        elif value.message_id not in self.messages:
            self.too_much = True


class Follower:
    """An async iterator for one task; ends after :meth:`close`. Loop thread only.

    It begins at ``now_ms``, or with what came after ``position``: an event's id, or a time.
    """

    def __init__(
        self,
        stored: EventRepository,
        what: What,
        organization_id: str | None,
        position: str | None,
        now_ms: int,
        broken: BrokenRow | None = None,
    ) -> None:
        self._stored = stored
        self._broken = broken
        self._what = what
        self._organization_id = organization_id
        self._queue: deque[OutboxEvent | LifeEvent] = deque()
        self._missed: _Missed | None = None
        self._making_up: Iterator[Told | None] = iter((Ready(now_ms),))
        if position is not None:
            self._making_up = self._come_back(position)
        self._seq = 0
        self._closed = False
        self._wake = trio.Event()

    def __aiter__(self) -> Follower:
        return self

    async def __anext__(self) -> Told:
        """The next value. A cancelled call has taken nothing away."""
        await trio.lowlevel.checkpoint()
        while True:
            for value in self._making_up:
                if value is not None:
                    return value
                await trio.lowlevel.checkpoint()
            if self._closed:
                raise StopAsyncIteration
            if self._missed is not None:
                self._making_up = self._make_up(self._missed)
                self._missed = None
            elif self._queue:
                value = self._queue.popleft()
                if isinstance(value, LifeEvent):
                    return value
                if value.seq > self._seq:  # else the event was read from the rows already
                    self._seq = value.seq
                    return value
            else:
                self._wake = trio.Event()
                await self._wake.wait()

    def push(self, value: OutboxEvent | LifeEvent) -> None:
        """Put a value into the reader's queue; never blocks."""
        if self._organization_id not in (None, value.organization_id):
            return
        if self._missed is None and len(self._queue) >= QUEUE_MAX:
            self._missed = _Missed()
            for each in self._queue:
                self._missed.note(each)
            self._queue.clear()
        if self._missed is not None:
            self._missed.note(value)
        else:
            self._queue.append(value)
        self._wake.set()

    def skip(self) -> None:
        """Send nothing of what still waits: the reader reads the present state."""
        self._queue.clear()
        self._missed = None
        self._making_up = iter(())

    def close(self) -> None:
        """The reader gets nothing more."""
        self._closed = True
        self._making_up = iter(())
        self._wake.set()

    # -- from the rows. A None among the values means: let other tasks run before going on

    def _make_up(self, missed: _Missed) -> Iterator[Told | None]:
        yield Lagged(missed.lost)
        if missed.too_much:
            yield self._give_up()
            return
        if missed.after_seq is not None:
            yield from self._events(max(missed.after_seq, self._seq))
        yield from self._standings(list(missed.messages))

    def _come_back(self, position: str) -> Iterator[Told | None]:
        place = self._position(position)
        if place is None:
            yield _NOT_KNOWN
            return
        seq, since_ms = place
        changed: list[str] | None = []
        if What.LIFE in self._what:
            changed = self._stored.changed_since(since_ms, CHANGED_ROWS_MAX)
        if changed is None:
            yield self._give_up()
            return
        yield Ready()
        if What.EVENTS in self._what:
            yield from self._events(seq)
        yield from self._standings(changed)

    def _position(self, position: str) -> tuple[int, int] | None:
        """The number of the reader's last event, and the time (UTC epoch milliseconds) after which
        messages may have changed; None if the position is not known here."""
        if position.isascii() and position.isdecimal() and len(position) <= TIME_DIGITS_MAX:
            since_ms = int(position) - SLACK_MS
            return self._stored.seq_before(since_ms), since_ms
        row = self._stored.position(position)
        if row is None or self._organization_id not in (None, row.organization_id):
            return None
        return row.seq, row.created_at - SLACK_MS

    def _events(self, after_seq: int) -> Iterator[Told | None]:
        if self._stored.is_far(after_seq, MISSED_EVENTS_MAX):
            yield self._give_up()
            return
        self._seq = after_seq
        while rows := self._stored.after(self._seq, ROWS_AT_ONCE, self._broken):
            for row in rows:
                self._seq = row.seq
                if self._organization_id in (None, row.organization_id):
                    yield row
            yield None

    def _standings(self, message_ids: list[str]) -> Iterator[Told | None]:
        for start in range(0, len(message_ids), MESSAGES_AT_ONCE):
            for each in self._stored.standings(message_ids[start : start + MESSAGES_AT_ONCE]):
                if self._organization_id in (None, each.organization_id):
                    yield each
            yield None

    def _give_up(self) -> Reset:
        self._seq = max(self._seq, self._stored.last_seq())
        return _TOO_MUCH


@dataclass(frozen=True, slots=True)
class Live:
    """Gives each follower a :class:`Follower`."""

    _stored: EventRepository
    _clock: Clock
    _events: Broadcast[OutboxEvent]
    _life: Broadcast[LifeEvent]
    _broken: BrokenRow | None = None
    """Told of an event that cannot be read: its followers go on with the next one."""

    @contextmanager
    def follow(
        self, what: What, organization_id: str | None = None, position: str | None = None
    ) -> Iterator[Follower]:
        """Follow inside the block: one organization, or with None all of them."""
        now_ms = self._clock.now_ms()
        follower = Follower(self._stored, what, organization_id, position, now_ms, self._broken)
        events = self._events.hear if What.EVENTS in what else _deaf
        life = self._life.hear if What.LIFE in what else _deaf
        with events(follower.push), life(follower.push):
            yield follower


@contextmanager
def _deaf(_: object) -> Iterator[None]:
    yield
