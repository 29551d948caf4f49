"""Stored data of carriers: operators' gates and overrides, drivers' notes, unmatched receipts."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.carriers import gates, marks, notes, overrides, unmatched
from risala.engine.journal.repositories.store import Store
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.carriers.stored import CarrierGate, Override, UnmatchedReceipt
from risala.engine.rules.receiptgroups import Member


@dataclass(frozen=True, slots=True)
class CarrierRepository:
    """What is stored of carriers. All reads are on the loop's thread: by an index, or of tables
    with a few rows for each carrier.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def gates(self) -> dict[str, CarrierGate]:
        """The gates that are not open, by carrier, including former ones."""
        return gates.all_of(self._store.reader)

    def overrides(self) -> dict[str, Override]:
        """By carrier, including former ones."""
        return overrides.all_of(self._store.reader)

    def override(self, carrier: str) -> Override | None:
        """A carrier's override; None: the settings apply."""
        return overrides.of_carrier(self._store.reader, carrier)

    def unmatched(
        self, count: int, *, carrier: str | None, before: int | None
    ) -> list[UnmatchedReceipt]:
        """Receipts that matched nothing, the newest first, of one carrier or of all.

        Args:
            before: the number of a receipt: only older ones.
        """
        return unmatched.page(self._store.reader, count, carrier=carrier, before=before)

    def former(self, now_ms: int) -> list[Member]:
        """The marks of carriers that are gone or have changed, for the latest days."""
        return marks.former(self._store.reader, now_ms)

    def differ(self, members: Sequence[Member]) -> bool:
        """Whether the stored carriers differ from these."""
        return marks.differ(self._store.reader, members)

    def recall(self, carrier: str, prefix: str) -> dict[str, str]:
        """A driver's notes whose keys begin so, by key."""
        return notes.recall(self._store.reader, carrier, prefix)

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

    async def take_over(self, members: Sequence[Member], now_ms: int) -> None:
        """Store the present carriers; the others are gone from now on."""
        unit = partial(marks.take_over, members=members, now_ms=now_ms)
        await self._store.commit(unit)

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
