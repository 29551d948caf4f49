"""Senders, and the requests for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from risala.engine.journal.accounts import senders
from risala.engine.journal.pages import requests
from risala.engine.journal.repositories.store import Store, read
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.messages import Stamp
from risala.engine.model.records.senders import Sender


@dataclass(frozen=True, slots=True)
class SenderRepository:
    """Senders. All reads are on the loop's thread: the number of senders is bounded.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    sender = read(senders.sender)
    by_name = read(senders.by_name)
    all = read(senders.senders)
    owned_names = read(senders.owned_names)
    waiting_for_volume = read(senders.waiting_for_volume)
    volume = read(senders.volume)
    undecided = read(requests.undecided)
    requested = read(requests.waiting)
    page = read(requests.page)

    async def add(self, new: Sender, *, by: AuditEntry | None) -> Sender:
        """Request a name; a denied one may be requested again.

        Raises:
            Conflict: it is on the account already, or there are too many.
        """
        return await self._store.commit(partial(senders.add, new=new), by)

    async def clear(
        self, sender_id: str, *, waive: bool, stamp: Stamp, by: AuditEntry | None
    ) -> Sender:
        """Clear a name: it is approved at its volume, or with ``waive`` at once.

        Raises:
            NotFound: the id is unknown.
            Conflict: it is denied, or another organization has the name.
        """
        unit = partial(senders.clear, sender_id=sender_id, waive=waive, stamp=stamp)
        return await self._store.commit(unit, by)

    async def deny(
        self, sender_id: str, reason: str, stamp: Stamp, *, by: AuditEntry | None
    ) -> Sender:
        """Refuse a name, even an approved one.

        Raises:
            NotFound: the id is unknown.
        """
        unit = partial(senders.deny, sender_id=sender_id, reason=reason, stamp=stamp)
        return await self._store.commit(unit, by)
