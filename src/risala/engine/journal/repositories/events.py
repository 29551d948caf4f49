"""Events in their order, the progress of their consumers, and the calls that faces owe."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.messages import live
from risala.engine.journal.pages import about
from risala.engine.journal.repositories.store import Store
from risala.engine.journal.webhooks import compat_calls, event_cursors, outbox
from risala.engine.model.commands import LifeEvent
from risala.engine.model.events import EventType
from risala.engine.model.following import EventPage, EventPosition, OutboxEvent, StoredCursor
from risala.engine.model.records.messages import MessageView
from risala.engine.model.records.webhooks import CallToMake, DueCall, EventAbout, OwedCall
from risala.engine.rules.webhooks.schedule import AnswerVerdict


@dataclass(frozen=True, slots=True)
class EventRepository:
    """Events, consumers' places among them, and the states of their messages. All reads are on the
    loop's thread: by an index, and of a bounded number of rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def last_seq(self) -> int:
        """The place of the latest event; 0: there was no event."""
        return outbox.last_seq(self._store.reader)

    def after(self, seq: int, limit: int) -> list[OutboxEvent]:
        """Events that are newer, in order."""
        return outbox.after(self._store.reader, seq, limit)

    def is_far(self, seq: int, count_max: int) -> bool:
        """Whether more events than so many are newer."""
        return outbox.is_far(self._store.reader, seq, count_max)

    def seq_before(self, at_ms: int) -> int:
        """A place before all events since a time."""
        return outbox.seq_before(at_ms)

    def position(self, event_id: str) -> EventPosition | None:
        """An event's place; None if it is unknown, or no longer kept."""
        return outbox.position(self._store.reader, event_id)

    def about(self, message: MessageView) -> tuple[EventAbout, ...]:
        """The events about a message that are still kept, in order, with their deliveries."""
        return about.events_about(self._store.reader, message)

    def changed_since(self, since_ms: int, rows_max: int) -> list[str] | None:
        """Messages that may have changed since then; None if there are too many rows."""
        return live.changed_since(self._store.reader, since_ms, rows_max)

    def standings(self, message_ids: Sequence[str]) -> list[LifeEvent]:
        """The states of messages, each by the last entry of its timeline."""
        return live.standings(self._store.reader, message_ids)

    def cursor(self, consumer: str) -> StoredCursor | None:
        """A consumer's place."""
        return event_cursors.one(self._store.reader, consumer)

    def next_events(self, cursor: StoredCursor, after: int, limit: int, scan_max: int) -> EventPage:
        """The next events that a consumer follows, after a place.

        Args:
            limit: events at most.
            scan_max: events that are skipped at most.
        """
        return event_cursors.next_events(self._store.reader, cursor, after, limit, scan_max)

    def behind(self, cursor: StoredCursor, count_max: int) -> tuple[int, int | None]:
        """How many events a consumer still lacks, up to a limit; when the oldest of them was."""
        return event_cursors.behind(self._store.reader, cursor, count_max)

    # -- commands

    async def open_cursor(
        self,
        consumer: str,
        organization_id: str | None,
        types: Collection[EventType],
        now_ms: int,
        *,
        from_start: bool,
    ) -> StoredCursor:
        """A consumer's place; made if it has none, before the first event or after the last.

        Raises:
            NotFound: the organization does not exist.
        """
        given = (consumer, organization_id, types, now_ms)
        return await self._store.commit(
            lambda conn: event_cursors.opened(conn, *given, from_start=from_start)
        )

    async def move_cursor(self, consumer: str, seq: int, now_ms: int) -> None:
        """A consumer has everything up to an event."""
        unit = partial(event_cursors.moved, consumer=consumer, seq=seq, now_ms=now_ms)
        await self._store.commit(unit)

    async def drop_cursor(self, consumer: str) -> None:
        """End a consumer: nothing is owed to it."""
        await self._store.commit(partial(event_cursors.dropped, consumer=consumer))


@dataclass(frozen=True, slots=True)
class CallbackRepository:
    """Calls that faces owe. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def candidate(self, event: int) -> CallToMake | None:
        """The call that an event may require; None: no callback."""
        return compat_calls.candidate(self._store.reader, event)

    def waiting(self) -> list[tuple[str, int]]:
        """Each credential with owed calls, and when the first of them is due."""
        return compat_calls.waiting(self._store.reader)

    def first_due(self, credential: str, in_flight: Collection[int]) -> DueCall | None:
        """A credential's next call that is not being made."""
        return compat_calls.first_due(self._store.reader, credential, in_flight)

    # -- commands

    async def owe(self, calls: Sequence[OwedCall], now_ms: int) -> None:
        """Owe calls, each once even if its event is given again."""
        await self._store.commit(partial(compat_calls.owe, calls=calls, now_ms=now_ms))

    async def begin(self, event: int, now_ms: int) -> CallToMake | None:
        """Count an attempt before a byte of it leaves; None: no call is due."""
        return await self._store.commit(partial(compat_calls.begin, event=event, now_ms=now_ms))

    async def finish(self, event: int, verdict: AnswerVerdict, now_ms: int) -> None:
        """Store the result of an attempt."""
        unit = partial(compat_calls.finish, event=event, verdict=verdict, now_ms=now_ms)
        await self._store.commit(unit)

    async def drop(self, event: int, why: str, now_ms: int) -> None:
        """Drop a call."""
        unit = partial(compat_calls.drop, event=event, why=why, now_ms=now_ms)
        await self._store.commit(unit)

    async def tidy(self, before_ms: int) -> None:
        """Delete rows about messages and events before a time, a part at a time."""
        while await self._store.commit(partial(compat_calls.tidy, before_ms=before_ms)):
            pass
