"""What the standby's store says of itself: who has the lease, and how much room the copy takes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from risala.config.outward import StandbySection
from risala.dataclass import dataclass
from risala.engine.journal.shipping.notes import BadPiece
from risala.engine.model.errors import StorageUnusable
from risala.engine.upkeep.standby.lease import SendLease
from risala.engine.upkeep.standby.named_stores import lease_of, session_of


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """None: unknown."""

    lease: SendLease | None = None
    room_bytes: int | None = None
    fault: str | None = None
    """Why the store could not be asked."""


def store_facts(section: StandbySection) -> StoreFacts:
    """Ask the store that the settings name. Call it in a thread."""
    try:
        lease = lease_of(section)
        found = None if lease is None else lease.highest()
        return StoreFacts(found, _room(section))
    except (OSError, BadPiece, StorageUnusable) as error:
        return StoreFacts(fault=str(error))


def _room(section: StandbySection) -> int | None:
    if section.copy_kind == "postgresql":
        # Imported here: who does not use PostgreSQL needs nothing of it.
        from risala.engine.upkeep.standby.postgresql.health import room_bytes

        session = session_of(section)
        try:
            return session.run(room_bytes)
        finally:
            session.close()
    return None if section.directory is None else _size(section.directory)


def _size(directory: Path) -> int:
    total = 0
    for path in directory.glob("**/*"):
        with suppress(OSError):  # an old copy is deleted meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total
