"""Receipts that match no message so far, and segments that wait for theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.messages import awaiting, held, matching
from risala.engine.journal.messages.awaiting import AwaitingPage, UncertainPart
from risala.engine.journal.messages.held import Unmatched, Unused
from risala.engine.journal.store.store import Store
from risala.sms.receipt import Receipt


@dataclass(frozen=True, slots=True)
class ReceiptRepository:
    """Receipts that are held. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` where the disk did not take it.
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
        """A carrier's receipts that match nothing, in the order in which they came."""
        return held.unused(self._store.reader, carrier)

    def ending(self, before_ms: int) -> list[Unused]:
        """Those that name a submit, and are held since before ``before_ms``."""
        return held.ending(self._store.reader, before_ms)

    def is_waited_for(self, carriers: Sequence[str], receipt: Receipt, received_at: int) -> bool:
        """Whether a receipt that came then tells of a segment that still waits for one."""
        return matching.is_waited_for(self._store.reader, carriers, receipt, received_at)

    def unmatched_total(self, carrier: str) -> int:
        """A carrier's receipts that matched nothing, all of them ever."""
        return held.unmatched_total(self._store.reader, carrier)

    def unmatched(self, carrier: str) -> list[Unmatched]:
        """The latest of them."""
        return held.unmatched(self._store.reader, carrier)

    def waiting(self, carrier: str) -> int:
        """A carrier's receipts that are held at this moment."""
        return held.waiting(self._store.reader, carrier)

    async def use(self, carrier: str, receipt: Receipt) -> None:
        """Strike off a receipt that has been used."""
        await self._store.commit(partial(held.use, carrier=carrier, receipt=receipt))

    async def forget(self, before_ms: int, now_ms: int) -> list[Unmatched]:
        """Give up what has matched nothing since ``before_ms``."""
        unit = partial(held.forget, before_ms=before_ms, now_ms=now_ms)
        return await self._store.commit(unit)
