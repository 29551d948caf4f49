"""Erasures: of one number, or all of an organization; and deleting an organization."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.repositories.store import Store, command, read
from risala.engine.journal.upkeep import deletion, erasing, erasures, number_figures
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.upkeep.erasures import (
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

    find = read(erasures.find)
    under_way = read(erasures.under_way)
    of_organization = read(erasures.of_organization)
    of_number = read(number_figures.of)
    of_deletion = read(deletion.figures)
    open_sessions = read(erasing.open_sessions)
    pending = read(erasing.pending)

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

    take_out = command(erasing.take_out)

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
