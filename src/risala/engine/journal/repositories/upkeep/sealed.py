"""The sealed secrets as a whole: what of them opens, and all of them sealed anew."""

from __future__ import annotations

import sqlite3
from functools import partial

from risala.dataclass import dataclass
from risala.engine.journal.sealed import resealing
from risala.engine.journal.sealed.resealing import EXPORTED
from risala.engine.journal.store import sql as meta
from risala.engine.journal.store.repository import Store
from risala.engine.model.records.upkeep.sealed import LostSecret, SealedCount


@dataclass(frozen=True, slots=True)
class SealedRepository:
    """See the module's text. Scans read every sealed secret, on a thread."""

    _store: Store

    async def lost(self) -> tuple[LostSecret, ...]:
        """Those that no key here opens."""
        keys = self._store.sealing
        return await self._store.scan(lambda conn: tuple(resealing.lost(conn, keys)))

    async def counted(self) -> tuple[SealedCount, ...]:
        """How many there are, by purpose."""
        found = await self._store.scan(resealing.counted)
        return tuple(SealedCount(purpose, count) for purpose, count in found.items())

    async def reseal(self) -> int:
        """Seal all of them with the newest key, some at a time; returns how many rows there were.
        What is cut short goes on at the next start."""
        place, total = None, 0
        while True:
            unit = partial(resealing.seal_some, place=place, keys=self._store.sealing)
            done, place = await self._store.commit(unit)
            total += done
            if place is None:
                return total

    def exported_at(self) -> int | None:
        """When the newest key was last exported; None: never."""
        key, _, at = (meta.get(self._store.reader, EXPORTED) or "").partition(" ")
        return int(at) if key == self._store.sealing.ring().newest.id else None

    async def note_exported(self, now_ms: int) -> None:
        """Note that the newest key was exported."""
        said = f"{self._store.sealing.ring().newest.id} {now_ms}"

        def unit(conn: sqlite3.Connection) -> None:
            meta.put(conn, EXPORTED, said)

        await self._store.commit(unit)
