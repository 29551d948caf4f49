"""Erasures: of one number, or all of an organization; and deleting an organization."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.repositories.store import Store
from risala.engine.journal.upkeep import deletion, erasing, erasures, number_figures
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.people.organizations import OrganizationEnd
from risala.engine.model.records.upkeep.erasure_progress import NumberFigures
from risala.engine.model.records.upkeep.erasures import (
    Cancelable,
    Deleted,
    Erased,
    Erasure,
    ErasureStep,
)


@dataclass(frozen=True, slots=True)
class ErasureRepository:
    """Erasures, and what they take out in small steps. All reads are on the loop's thread: by an
    index, and of a bounded number of rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def find(self, erasure_id: str) -> Erasure:
        """One of them.

        Raises:
            NotFound: the id is unknown.
        """
        return erasures.find(self._store.reader, erasure_id)

    def under_way(self) -> list[Erasure]:
        """Those that are not done, the oldest first."""
        return erasures.under_way(self._store.reader)

    def of_organization(self, organization_id: str, limit: int) -> list[Erasure]:
        """The latest of an organization."""
        return erasures.of_organization(self._store.reader, organization_id, limit)

    def of_number(self, organization_id: str, number: str) -> NumberFigures:
        """An organization's data about a number."""
        return number_figures.of(self._store.reader, organization_id, number)

    def of_deletion(self, organization_id: str) -> OrganizationEnd:
        """What is deleted with an organization."""
        return deletion.figures(self._store.reader, organization_id)

    def open_sessions(self, erasure: Erasure, limit: int) -> list[str]:
        """Pending verification sessions that an erasure ends, from its place on."""
        return erasing.open_sessions(self._store.reader, erasure, limit)

    def pending(self, erasure: Erasure, limit: int) -> list[Cancelable]:
        """Messages that have not left, from its place on."""
        return erasing.pending(self._store.reader, erasure, limit)

    # -- commands

    async def begin(
        self,
        erasure_id: str,
        organization_id: str,
        number: str,
        asked_by: str,
        now_ms: int,
        *,
        by: AuditEntry,
    ) -> Erasure:
        """Note that a number is to be erased; a running erasure of the same number is used.

        Raises:
            Conflict: too many are under way.
        """
        given = (erasure_id, organization_id, number, asked_by, now_ms)
        return await self._store.commit(lambda conn: erasures.begin(conn, *given), by)

    async def delete_organization(
        self,
        organization_id: str,
        erasure_id: str,
        who: str,
        now_ms: int,
        actor_id: str | None,
        *,
        by: AuditEntry,
    ) -> Deleted:
        """End an organization with its keys, members and endpoints, and begin its erasure.

        Args:
            actor_id: the owner who asks; None: an operator.

        Raises:
            NotFound: the id is unknown, or it is deleted already.
            Forbidden: the actor is no longer an owner.
        """
        unit = partial(
            deletion.delete,
            organization_id=organization_id,
            erasure_id=erasure_id,
            asked_by=who,
            now_ms=now_ms,
            actor_id=actor_id,
        )
        return await self._store.commit(unit, by)

    async def take_out(self, erasure_id: str, now_ms: int) -> Erased:
        """Do its next small piece, from :attr:`ErasureStep.EVENTS` on.

        Raises:
            NotFound: the id is unknown.
        """
        return await self._store.commit(lambda conn: erasing.take_out(conn, erasure_id, now_ms))

    async def note(
        self, erasure: Erasure, step: ErasureStep, place: str, gone: Mapping[str, int]
    ) -> Erased:
        """Note its progress, unless another process was quicker."""

        def unit(conn: sqlite3.Connection) -> Erased:
            now = erasures.find(conn, erasure.id)
            if (now.step, now.place) != (erasure.step, erasure.place):
                return Erased(now)
            return Erased(erasures.note(conn, now, step, place, gone))

        return await self._store.commit(unit)

    async def take_out_message(self, message_id: str, *, text_only: bool, by: AuditEntry) -> None:
        """Erase the text of a message that has ended, or its number too.

        Raises:
            NotFound: the id is unknown.
            Conflict: it is under way.
        """
        unit = partial(erasing.take_out_message, message_id=message_id, text_only=text_only)
        await self._store.commit(unit, by)
