"""Stored data of carriers: operators' gates and overrides, drivers' notes, unmatched receipts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.carriers import gates, marks, notes, overrides, unmatched
from risala.engine.journal.repositories.store import Store, command, read
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.carriers.stored import CarrierGate, Override


@dataclass(frozen=True, slots=True)
class CarrierRepository:
    """What is stored of carriers. All reads are on the loop's thread: by an index, or of tables
    with a few rows for each carrier.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    gates = read(gates.all_of)
    override = read(overrides.of_carrier)
    overrides = read(overrides.all_of)
    unmatched = read(unmatched.page)
    former = read(marks.former)
    differ = read(marks.differ)
    recall = read(notes.recall)

    # -- commands

    async def set_gate(self, gate: CarrierGate, *, by: AuditEntry) -> None:
        """Keep a carrier paused, or draining."""
        await self._store.commit(partial(gates.put, gate=gate), by)

    async def open_gate(self, carrier: str, *, by: AuditEntry) -> None:
        """Let a carrier send again."""
        await self._store.commit(partial(gates.open_again, carrier=carrier), by)

    async def put_override(self, override: Override, *, by: AuditEntry) -> None:
        """Set an override; fields that are None stay as they were."""
        await self._store.commit(partial(overrides.put, override=override), by)

    async def end_override(self, carrier: str, field: str | None, *, by: AuditEntry) -> None:
        """End the override of one field or of both.

        Raises:
            Conflict: nothing is put over them.
        """
        await self._store.commit(partial(overrides.end, carrier=carrier, field=field), by)

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
