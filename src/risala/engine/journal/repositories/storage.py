"""What organizations store besides messages."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.journal import storage
from risala.engine.journal.store.repository import Store, command, read, scan


@dataclass(frozen=True, slots=True)
class StorageRepository:
    """What takes how much on the disk: by organization on the loop's thread, by an index; of all of
    them on a thread. The times of the newest and the first row are read on the loop's thread."""

    _store: Store

    limited_bytes = read(storage.limited_bytes)
    uploads = read(storage.uploads)
    newest_ms = read(storage.newest_ms)
    first_ms = read(storage.first_ms)
    of_organization = scan(storage.of_organization)
    fullest = scan(storage.fullest)
    passed_at = read(storage.passed_at)
    note_passed = command(storage.note_passed)
