"""What has been added to the database's WAL since the last look, read where nobody can write.

SQLite begins its WAL anew when all of it has been folded into the database; what was in it is gone
then. So while pieces are shipped, the WAL is folded in by :func:`turn` alone: a unit of the
journal's one writer, which holds the right to write meanwhile. It folds, and reads what it has
folded. Who has each turn's answer has every frame that ever was in the WAL.

https://www.sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from risala.engine.journal.store.opening import connect

_HEADER: Final = struct.Struct(">8I")
"""Magic, version, page size, number of checkpoints, two salts, two checksums."""
_FRAME: Final = struct.Struct(">6I")
"""Page number, size of the database in pages after a commit (else 0), two salts, two checksums."""


@dataclass(frozen=True, slots=True)
class WalPlace:
    """Up to where the WAL was read."""

    salt: int
    """The first salt: one more each time that the WAL begins anew."""
    frames: int


@dataclass(frozen=True, slots=True)
class WalPart:
    """Frames that follow each other."""

    place: WalPlace
    """After them."""
    page_bytes: int
    database_pages: int
    """The database's size after them; 0 where there are none."""
    pages: dict[int, bytes]
    """By number, each as it was last."""


class Gap(Exception):
    """The WAL began anew unseen: what it had is not known, and the copy has to begin anew."""


def beside(database: Path) -> Path:
    return database.with_name(f"{database.name}-wal")


def manual(conn: sqlite3.Connection) -> None:
    """A unit: from now on the WAL is folded in by :func:`turn` alone."""
    conn.execute("pragma wal_autocheckpoint = 0")


def automatic(conn: sqlite3.Connection) -> None:
    """A unit: SQLite folds the WAL in by itself again; whoever ships has to begin anew."""
    conn.execute("pragma wal_autocheckpoint = 1000")


def turn(database: Path, since: WalPlace | None) -> WalPart:
    """Fold the WAL in as far as readers let, and read what was added ``since``.

    To be called in a unit of the journal's writer, whose transaction keeps others from writing.

    Args:
        since: the last place; None: the beginning of the WAL as it is.

    Raises:
        Gap: it began anew more than once, or before all of it was read.
    """
    # A connection of its own: the writer's has a transaction open.
    with closing(connect(database, "rw")) as conn:
        _, frames, _ = conn.execute("pragma wal_checkpoint(passive)").fetchone()
    if frames <= 0:  # nothing was written yet since the WAL was made
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
    """How many frames of the WAL were read before."""
    if since is None or since.frames == 0:
        return 0
    if salt == since.salt:
        if frames < since.frames:
            raise Gap("the WAL has become shorter")
        return since.frames
    if salt == (since.salt + 1) & 0xFFFF_FFFF:
        return 0
    raise Gap("the WAL began anew more than once")


class WalTail:
    """What was added to the WAL and is not shipped yet.

    A turn is lost nowhere: what it has read is kept here even where the transaction around it
    fails, since the next turn may find that WAL gone. One task uses it, and waits for each turn.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._place: WalPlace | None = None
        self._page_bytes = self._database_pages = 0
        self._pages: dict[int, bytes] = {}

    def turn(self, _: sqlite3.Connection) -> None:
        """A unit: read what is new. Raises :class:`Gap`."""
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
