"""The queue: messages that wait to be sent, for those who give them out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from risala.config.model import OnUncertain
from risala.engine.journal.accounts import accounts
from risala.engine.journal.messages import deadlines, reads, waiting
from risala.engine.journal.messages.reads import Queue
from risala.engine.journal.store import meta
from risala.engine.journal.store.store import Store
from risala.engine.model.records.messages import DueRow, Place, Unserved


@dataclass(frozen=True, slots=True)
class QueueRepository:
    """What is due, by queue. All reads are by an index, on the loop's thread, and of so many rows
    as is asked for; those over all queues skip from one to the next.

    A command returns once it is on disk, and raises ``Unavailable`` where the disk did not take it.
    """

    _store: Store

    # -- reads

    def queues(self) -> list[Queue]:
        """Every route, priority and organization that has pending messages."""
        return reads.queues(self._store.reader)

    def due(
        self,
        route: str,
        priority: int,
        organization_id: str,
        now_ms: int,
        after: Place,
        count: int,
    ) -> list[DueRow]:
        """The next ``count`` due messages of a queue, oldest first."""
        return reads.due(self._store.reader, route, priority, organization_id, now_ms, after, count)

    def next_due(
        self, route: str, priority: int, organization_id: str, after_ms: int
    ) -> int | None:
        """When the next message of a queue falls due after ``after_ms``."""
        return reads.next_due(self._store.reader, route, priority, organization_id, after_ms)

    def message(self, message_id: str) -> DueRow | None:
        """One message as the queue has it, whatever its status."""
        return reads.row(self._store.reader, message_id)

    def acknowledged_parts(self, message_id: str) -> frozenset[int]:
        """Numbers of the segments that a carrier has accepted already."""
        return reads.acknowledged_parts(self._store.reader, message_id)

    def begun_narrow(self) -> frozenset[str]:
        """Messages that a version began which cut all texts for an 8-bit reference."""
        return reads.begun_narrow(self._store.reader)

    def may_send(self, organization_id: str) -> bool:
        """Whether an organization's messages may leave."""
        return accounts.is_active(self._store.reader, organization_id)

    def next_deadline(self) -> int | None:
        """When time ends or settles the next message."""
        return deadlines.next_deadline(self._store.reader)

    def routes(self) -> str | None:
        """The fingerprint of the routes that everything was last sorted into."""
        return meta.get(self._store.reader, "routes")

    def count(self, routes: Iterable[str], count_max: int) -> int:
        """Pending messages of these routes, counted no further than ``count_max``."""
        return waiting.count(self._store.reader, routes, count_max)

    def oldest(self, routes: Iterable[str], now_ms: int) -> int | None:
        """Since when the message of these routes waits that is due longest; None: none is due."""
        return waiting.oldest(self._store.reader, routes, now_ms)

    def unserved(self, count_max: int) -> Unserved:
        """Messages that no carrier serves, counted no further than ``count_max``."""
        return waiting.unserved(self._store.reader, count_max)

    def is_unserved(self, message_id: str) -> bool:
        """Whether a message waits because no enabled carrier serves its number."""
        return waiting.is_unserved(self._store.reader, message_id)

    # -- commands

    async def recover(
        self, policy: Callable[[str, str], OnUncertain], now_ms: int, count: int
    ) -> int:
        """Clear up attempts that a crash cut short; how many. Call it again until that is 0.

        Args:
            policy: takes a carrier's name and a message's kind.
        """
        unit = partial(deadlines.recover, policy=policy, now_ms=now_ms, count=count)
        return await self._store.commit(unit)

    async def reroute(
        self, queue: Queue, after: Place, route_key: Callable[[str], str], count: int, now_ms: int
    ) -> Place | None:
        """Sort ``count`` messages of a queue into routes anew; where to go on, or None."""
        given = (queue, after, route_key, count, now_ms)
        return await self._store.commit(lambda conn: reads.reroute(conn, *given))

    async def note_routes(self, fingerprint: str) -> None:
        """Everything is sorted into these routes."""
        await self._store.commit(partial(meta.put, key="routes", value=fingerprint))
