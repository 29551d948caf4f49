"""Stored data of carriers: operators' gates and overrides, drivers' notes, unmatched receipts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from risala.dataclass import dataclass
from risala.engine.journal.carriers import gates as stored_gates
from risala.engine.journal.carriers import marks, notes, unmatched
from risala.engine.journal.carriers import overrides as stored_overrides
from risala.engine.journal.store.repository import Store, audited_command, command, read


@dataclass(frozen=True, slots=True)
class CarrierRepository:
    """What is stored of carriers. All reads are on the loop's thread: by an index, or of tables
    with a few rows for each carrier.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    gates = read(stored_gates.all_of)
    override = read(stored_overrides.of_carrier)
    overrides = read(stored_overrides.all_of)
    unmatched = read(unmatched.page)
    former = read(marks.former)
    differ = read(marks.differ)
    recall = read(notes.recall)

    # -- commands

    set_gate = audited_command(stored_gates.put)
    open_gate = audited_command(stored_gates.open_again)
    put_override = audited_command(stored_overrides.put)
    end_override = audited_command(stored_overrides.end)
    take_over = command(marks.take_over)

    async def remember(self, carrier: str, written: Mapping[str, str | None], now_ms: int) -> None:
        """Write a driver's notes, and delete those whose text is None.

        Raises:
            ValueError: a key or a text is too long.
            TooManyNotes: none of them was written.
        """
        notes.check(written)

        def unit(conn: sqlite3.Connection) -> None:
            notes.remember(conn, carrier, written, now_ms)

        await self._store.commit(unit)
