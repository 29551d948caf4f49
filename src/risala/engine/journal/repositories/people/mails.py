"""The queue of mails."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from risala.engine.journal.pages import behind
from risala.engine.journal.people import mails
from risala.engine.journal.repositories.store import Store
from risala.engine.model.people_records.mails import (
    MailOutcome,
    MailQueueStatus,
    OwedMail,
)
from risala.engine.model.records.upkeep.service import MailsWaiting


@dataclass(frozen=True, slots=True)
class MailRepository:
    """Mails that are owed. All reads are by an index, on the loop's thread. Units of other
    repositories owe mails, each in the transaction that is the reason for it.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    def due(self, count: int) -> list[OwedMail]:
        """Those that are due first."""
        return mails.first(self._store.reader, count)

    def status(self) -> MailQueueStatus:
        """The state of the queue."""
        return mails.queue_status(self._store.reader)

    def waiting(self) -> MailsWaiting:
        """How many are owed, counted up to a limit, and since when."""
        return behind.mails(self._store.reader)

    async def settle(self, seq: int, outcome: MailOutcome, now_ms: int) -> None:
        """Record that a mail was sent, or will not be."""
        unit = partial(mails.settle, seq=seq, outcome=outcome, now_ms=now_ms)
        await self._store.commit(unit)

    async def put_off(self, seq: int, due_at: int, tries: int) -> None:
        """A mail is tried again later."""
        await self._store.commit(partial(mails.put_off, seq=seq, due_at=due_at, tries=tries))

    async def forget_settled(self, now_ms: int) -> None:
        """Delete the results of last week's mails."""
        await self._store.commit(partial(mails.forget_settled, now_ms=now_ms))
