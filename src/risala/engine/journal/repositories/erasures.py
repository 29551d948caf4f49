"""Erasures: of one number, or all of an organization; and deleting an organization."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from risala.dataclass import dataclass
from risala.engine.journal.repositories.store import Store, audited_command, command, read
from risala.engine.journal.upkeep import deletion, erasing, erasures, number_figures
from risala.engine.model.records.upkeep.erasures import (
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

    begin = audited_command(erasures.begin)
    delete_organization = audited_command(deletion.delete)
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

    take_out_message = audited_command(erasing.take_out_message)
