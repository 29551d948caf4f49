"""Two databases page by page: what is committed in the one, and the file of the other.

SQLite itself hands out the pages of the first (``serialize``), so that nothing of the engine's own
reading of the WAL is believed.
"""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from risala.engine.features.standby.stored.wal import beside

_PAGE_BYTES = slice(16, 18)
"""Of the header: how long a page is."""
_MAY_DIFFER = (slice(18, 20), slice(24, 28), slice(40, 44), slice(92, 100))
"""Of the header, which a whole copy begins anew: whether there is a WAL, and what SQLite counts.
https://www.sqlite.org/fileformat2.html#the_database_header"""
TOLD_MAX = 5


def committed(database: Path) -> list[bytes]:
    """The pages of what is committed in a database that may be in use."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as conn:
        return _split(conn.serialize())


def of_file(path: Path) -> list[bytes]:
    """The pages of a file without a WAL."""
    assert not beside(path).exists()
    return _split(path.read_bytes())


def digest(pages: list[bytes]) -> str:
    found = hashlib.blake2b(digest_size=16)
    for page in pages:
        found.update(page)
    return found.hexdigest()


def differing(one: list[bytes], other: list[bytes]) -> str:
    """The pages that are not the same, in a few words; empty: all are."""
    found = [at for at, (a, b) in enumerate(zip(one, other, strict=False), 1) if a != b]
    if len(one) != len(other):
        return f"{len(one)} pages and {len(other)}, different: {found[:TOLD_MAX]}"
    return f"{len(found)} of {len(one)} pages, the first {found[:TOLD_MAX]}" if found else ""


def _split(data: bytes) -> list[bytes]:
    size = int.from_bytes(data[_PAGE_BYTES], "big")
    size = 65_536 if size == 1 else size
    first = bytearray(data[:size])
    for each in _MAY_DIFFER:
        first[each] = bytes(each.stop - each.start)
    return [bytes(first), *(data[at : at + size] for at in range(size, len(data), size))]
