"""Reads the new part of the database's WAL while nothing can write.

SQLite restarts its WAL when all of it has been folded into the database; its old content is then
gone. So while pieces are shipped, only :func:`turn` folds the WAL in: a unit of the journal's one
writer, which has the right to write meanwhile. It folds, and reads what it has folded. The answers
of all turns contain every frame that was ever in the WAL.

https://www.sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store.opening import connect

_HEADER: Final = struct.Struct(">8I")
"""Magic, version, page size, number of checkpoints, two salts, two checksums."""
_FRAME: Final = struct.Struct(">6I")
"""Page number, size of the database in pages after a commit (else 0), two salts, two checksums."""


@dataclass(frozen=True, slots=True)
class WalPlace:
    """The position up to which the WAL was read."""

    salt: int
    """The first salt: one more at each restart of the WAL."""
    frames: int


@dataclass(frozen=True, slots=True)
class WalPart:
    """Frames that follow each other."""

    place: WalPlace
    """The position after them."""
    page_bytes: int
    database_pages: int
    """The database's size after them; 0 if there are none."""
    pages: dict[int, bytes]
    """By number, each in its latest version."""


class Gap(Exception):
    """The WAL restarted unseen: its content is unknown, and the copy has to begin again."""


def beside(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")


def manual(conn: sqlite3.Connection) -> None:
    """A unit: from now on only :func:`turn` folds the WAL in."""
    conn.execute("pragma wal_autocheckpoint = 0")


def automatic(conn: sqlite3.Connection) -> None:
    """A unit: SQLite folds the WAL in by itself again; the shipper has to begin again."""
    conn.execute("pragma wal_autocheckpoint = 1000")


def turn(database: Path, since: WalPlace | None) -> WalPart:
    """Fold the WAL in as far as readers allow, and read what was added ``since``.

    Call it in a unit of the journal's writer, whose transaction keeps others from writing.

    Args:
        since: the last place; None: the beginning of the WAL as it is.

    Raises:
        Gap: it restarted more than once, or before all of it was read.
    """
    # A separate connection: the writer's has a transaction open.
    with closing(connect(database, "rw")) as conn:
        _, frames, _ = conn.execute("pragma wal_checkpoint(passive)").fetchone()
    if frames <= 0:  # nothing was written since the WAL was made
        return WalPart(since or WalPlace(0, 0), 0, 0, {})
    with open(beside(database), "rb") as file:
        _, _, page_bytes, _, salt, _, _, _ = _HEADER.unpack(file.read(_HEADER.size))
        first = _first(since, salt, frames)
        size = _FRAME.size + page_bytes
        file.seek(_HEADER.size + first * size)
        data = file.read((frames - first) * size)
    if len(data) != (frames - first) * size:
        raise Gap("the WAL is shorter than SQLite says")
    database_pages, pages = 0, {}
    for offset in range(0, len(data), size):
        number, after, found, *_ = _FRAME.unpack_from(data, offset)
        if found != salt:
            raise Gap("the WAL has a frame of a former one")
        pages[number] = data[offset + _FRAME.size : offset + size]
        database_pages = after or database_pages
    return WalPart(WalPlace(salt, frames), page_bytes, database_pages, pages)


def _first(since: WalPlace | None, salt: int, frames: int) -> int:
    """The number of frames of the WAL that were already read."""
    if since is None or since.frames == 0:
        return 0
    if salt == since.salt:
        if frames < since.frames:
            raise Gap("the WAL has become shorter")
        return since.frames
    if salt == (since.salt + 1) & 0xFFFF_FFFF:
        return 0
    raise Gap("the WAL restarted more than once")


class WalTail:
    """The part of the WAL that is not shipped yet.

    No turn is lost: its frames are kept here even if the transaction around it fails, since the
    next turn may find that WAL gone. One task uses it, and waits for each turn.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._place: WalPlace | None = None
        self._page_bytes = self._database_pages = 0
        self._pages: dict[int, bytes] = {}

    def turn(self, _: sqlite3.Connection) -> None:
        """A unit: read the new frames. Raises :class:`Gap`."""
        self.read()

    def read(self) -> None:
        """Read the new frames while nothing can write. Raises :class:`Gap`."""
        part = turn(self._database, self._place)
        self._place = part.place
        if part.pages:
            self._page_bytes, self._database_pages = part.page_bytes, part.database_pages
            self._pages.update(part.pages)

    def part(self) -> WalPart:
        """All that is not shipped."""
        place = self._place or WalPlace(0, 0)
        return WalPart(place, self._page_bytes, self._database_pages, self._pages)

    @property
    def retained_bytes(self) -> int:
        return len(self._pages) * self._page_bytes

    def forget(self) -> None:
        """It is shipped."""
        self._pages = {}
