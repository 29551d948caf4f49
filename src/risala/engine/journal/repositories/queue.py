"""The queue, for the scheduler, and receipts without a message so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from risala.config.model import OnUncertain
from risala.engine.journal import clock_rollback
from risala.engine.journal.accounts import accounts
from risala.engine.journal.messages import awaiting, deadlines, held, matching, reads, waiting
from risala.engine.journal.messages.awaiting import AwaitingPage, UncertainPart
from risala.engine.journal.messages.held import Unmatched, Unused
from risala.engine.journal.messages.reads import Queue
from risala.engine.journal.repositories.store import Store
from risala.engine.journal.store import meta
from risala.engine.journal.upkeep import restore_hold, set_aside
from risala.engine.model.records.messages import Change, DueRow, Place, Stamp, Unserved
from risala.engine.model.records.upkeep.restored import HeldMessage
from risala.sms.receipt import Receipt


@dataclass(frozen=True, slots=True)
class QueueRepository:
    """What is due, by queue. All reads are by an index, on the loop's thread, and of so many rows
    as is asked for; those over all queues skip from one to the next.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
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
        """One message in the queue's form, with any status."""
        return reads.row(self._store.reader, message_id)

    def acknowledged_parts(self, message_id: str) -> frozenset[int]:
        """Numbers of the segments that a carrier has accepted already."""
        return reads.acknowledged_parts(self._store.reader, message_id)

    def may_send(self, organization_id: str) -> bool:
        """Whether an organization's messages may leave."""
        return accounts.is_active(self._store.reader, organization_id)

    def next_deadline(self) -> int | None:
        """When time ends or settles the next message."""
        return deadlines.next_deadline(self._store.reader)

    def routes(self) -> str | None:
        """The fingerprint of the routes by which everything was last sorted."""
        return meta.get(self._store.reader, "routes")

    def count(self, routes: Iterable[str], count_max: int) -> int:
        """Pending messages of these routes, counted no further than ``count_max``."""
        return waiting.count(self._store.reader, routes, count_max)

    def oldest(self, routes: Iterable[str], now_ms: int) -> int | None:
        """Since when the longest due message of these routes waits; None: none is due."""
        return waiting.oldest(self._store.reader, routes, now_ms)

    def unserved(self, count_max: int) -> Unserved:
        """Messages that no carrier serves, counted no further than ``count_max``."""
        return waiting.unserved(self._store.reader, count_max)

    def is_unserved(self, message_id: str) -> bool:
        """Whether a message waits because no enabled carrier serves its number."""
        return waiting.is_unserved(self._store.reader, message_id)

    def held_count(self) -> int:
        """The number of messages that a restore holds. It counts them."""
        return restore_hold.count(self._store.reader)

    def held(self) -> list[HeldMessage]:
        """Those of them that are scheduled first."""
        return restore_hold.held(self._store.reader)

    # -- commands

    async def release_held(self, stamps: Sequence[Stamp]) -> tuple[Change, ...]:
        """Let as many held messages as there are stamps go on, due at their scheduled time."""
        return await self._store.commit(partial(restore_hold.release, stamps=stamps))

    async def end_held(self, stamps: Sequence[Stamp]) -> tuple[Change, ...]:
        """End as many held messages as there are stamps as ``RESTORED``, refunded."""
        return await self._store.commit(partial(restore_hold.end, stamps=stamps))

    async def note_running(self) -> None:
        """The service runs from now on, and may send."""
        await self._store.commit(set_aside.runs)

    async def note_stopped(self, now_ms: int) -> None:
        """The service has stopped in order, and nothing of it is with a carrier unwritten."""
        await self._store.commit(partial(set_aside.stopped, now_ms=now_ms))

    async def follow_clock(self, by_ms: int, now_ms: int) -> int:
        """Move the times of waits back by as much as the clock was, in the queue and elsewhere;
        returns how many rows waited."""
        return await self._store.commit(partial(clock_rollback.follow, by_ms=by_ms, now_ms=now_ms))

    async def recover(
        self, policy: Callable[[str, str], OnUncertain], now_ms: int, count: int
    ) -> int:
        """Clear up attempts that a crash cut short; how many. Call it again until it is 0.

        Args:
            policy: takes a carrier's name and a message's kind.
        """
        unit = partial(deadlines.recover, policy=policy, now_ms=now_ms, count=count)
        return await self._store.commit(unit)

    async def reroute(
        self, queue: Queue, after: Place, route_key: Callable[[str], str], count: int, now_ms: int
    ) -> Place | None:
        """Sort ``count`` messages of a queue into routes again; where to continue, or None."""
        given = (queue, after, route_key, count, now_ms)
        return await self._store.commit(lambda conn: reads.reroute(conn, *given))

    async def note_routes(self, fingerprint: str) -> None:
        """Everything is sorted into these routes."""
        await self._store.commit(partial(meta.put, key="routes", value=fingerprint))


@dataclass(frozen=True, slots=True)
class ReceiptRepository:
    """Receipts that are held. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- segments without a receipt

    def accepted_since(self, after: int, limit: int) -> AwaitingPage:
        """The accepted segments of the next ``limit`` messages after a key."""
        return awaiting.accepted_since(self._store.reader, after, limit)

    def is_awaited(self, message_id: str, number: int, carrier_id: str) -> bool:
        """Whether a segment has no final receipt yet, and is known to its carrier by this id."""
        return awaiting.is_awaited(self._store.reader, message_id, number, carrier_id)

    def uncertain_due(self, now_ms: int, limit: int) -> list[UncertainPart]:
        """Uncertain segments whose wait is over, and whose id at the carrier is known."""
        return awaiting.uncertain_due(self._store.reader, now_ms, limit)

    # -- receipts without a message

    def unused(self, carrier: str) -> list[Unused]:
        """A carrier's unused receipts, in the order in which they came."""
        return held.unused(self._store.reader, carrier)

    def ending(self, before_ms: int) -> list[Unused]:
        """Receipts that name a submit, and are held since before ``before_ms``."""
        return held.ending(self._store.reader, before_ms)

    def is_waited_for(self, carriers: Sequence[str], receipt: Receipt, received_at: int) -> bool:
        """Whether a receipt of that time is about a segment that still waits for one."""
        return matching.is_waited_for(self._store.reader, carriers, receipt, received_at)

    def unmatched_total(self, carrier: str) -> int:
        """The number of a carrier's receipts that ever matched nothing."""
        return held.unmatched_total(self._store.reader, carrier)

    def waiting(self, carrier: str) -> int:
        """The number of a carrier's receipts that are held now."""
        return held.waiting(self._store.reader, carrier)

    async def use(self, carrier: str, receipt: Receipt) -> None:
        """Delete a receipt that has been used."""
        await self._store.commit(partial(held.use, carrier=carrier, receipt=receipt))

    async def forget(self, before_ms: int, now_ms: int) -> list[Unmatched]:
        """Drop receipts without a match since ``before_ms``."""
        unit = partial(held.forget, before_ms=before_ms, now_ms=now_ms)
        return await self._store.commit(unit)
