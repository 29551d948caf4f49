"""The queue, for the scheduler, and receipts without a message so far."""

from __future__ import annotations

from functools import partial

from risala.dataclass import dataclass
from risala.engine.journal import clock_rollback
from risala.engine.journal.accounts import accounts
from risala.engine.journal.messages import awaiting, deadlines, held, matching, reads, waiting
from risala.engine.journal.store import sql as meta
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.upkeep import stopped


@dataclass(frozen=True, slots=True)
class QueueRepository:
    """What is due, by queue. Reads on the loop's thread are by an index, and of as many rows as is
    asked for; those over all queues skip from one to the next. What a restore holds is counted and
    sorted on a thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    queues = read(reads.queues)
    due = read(reads.due)
    next_due = read(reads.next_due)
    message = read(reads.row)
    acknowledged_parts = read(reads.acknowledged_parts)
    may_send = read(accounts.is_active)
    interrupted = read(deadlines.interrupted)
    due_keys = read(deadlines.due)
    next_deadline = read(deadlines.next_deadline)

    def routes(self) -> str | None:
        """The fingerprint of the routes by which everything was last sorted."""
        return meta.get(self._store.reader, "routes")

    count = read(waiting.count)
    oldest = read(waiting.oldest)
    oldest_due = read(waiting.oldest_due)
    unserved = read(waiting.unserved)
    is_unserved = read(waiting.is_unserved)

    # -- commands

    note_running = command(stopped.runs)
    note_stopped = command(stopped.stopped)
    follow_clock = command(clock_rollback.follow)
    recover = command(deadlines.recover)
    reroute = command(reads.reroute)

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

    accepted_since = read(awaiting.accepted_since)
    is_awaited = read(awaiting.is_awaited)
    uncertain_due = read(awaiting.uncertain_due)

    # -- receipts without a message

    unused = read(held.unused)
    ending = read(held.ending)
    is_waited_for = read(matching.is_waited_for)
    unmatched_total = read(held.unmatched_total)
    waiting = read(held.waiting)
    use = command(held.use)
    forget = command(held.forget)
