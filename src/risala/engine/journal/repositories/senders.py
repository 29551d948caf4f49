"""Senders, and the requests for them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from risala.engine.journal.accounts import senders
from risala.engine.journal.pages import requests
from risala.engine.journal.repositories.store import Store
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.accounts import SenderRequestFilter, Undecided
from risala.engine.model.records.messages import Stamp
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.senders import Sender
from risala.engine.rules.sender_marks import Owned


@dataclass(frozen=True, slots=True)
class SenderRepository:
    """Senders. All reads are on the loop's thread: the number of senders is bounded.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    def sender(self, sender_id: str) -> Sender:
        """One sender.

        Raises:
            NotFound: the id is unknown.
        """
        return senders.sender(self._store.reader, sender_id)

    def by_name(self, organization_id: str, name: str) -> Sender | None:
        """The organization's sender of this name, compared folded."""
        return senders.by_name(self._store.reader, organization_id, name)

    def all(self, organization_id: str | None) -> list[Sender]:
        """Senders of one organization, or with None of all, the oldest request first."""
        return senders.senders(self._store.reader, organization_id)

    def owned_names(self) -> list[Owned]:
        """The names of organizations, and their senders that were not denied."""
        return senders.owned_names(self._store.reader)

    def waiting_for_volume(self) -> set[str]:
        """Organizations with a cleared sender that is not approved yet."""
        return senders.waiting_for_volume(self._store.reader)

    def volume(self, organization_id: str, now_ms: int, hours: int) -> int:
        """Accepted live messages of the last ``hours``, codes among them."""
        return senders.volume(self._store.reader, organization_id, now_ms, hours)

    def undecided(self) -> Undecided:
        """The number of undecided requests, and since when the oldest waits."""
        return requests.undecided(self._store.reader)

    def requested(self, wanted: SenderRequestFilter) -> list[Sender]:
        """Undecided requests, the oldest first."""
        return requests.waiting(self._store.reader, wanted)

    def page(self, wanted: SenderRequestFilter, steps: Steps) -> CursorPage[Sender]:
        """One page of the requests in another state, the newest first."""
        return requests.page(self._store.reader, wanted, steps)

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
