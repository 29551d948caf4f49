"""Reads the new part of the database's WAL while nothing can write.

SQLite restarts its WAL when all of it has been folded into the database; its old content is then
gone. So while pieces are shipped, only :func:`turn` and :class:`WalTail` fold the WAL in, where the
journal's one writer has the right to write. They fold, and read what was folded. The answers of all
turns contain every frame that was ever in the WAL.

A fold syncs the database, and costs milliseconds. Whoever reads after every commit reads the file
alone, up to the last mark of a commit, and folds now and then. That is right only in a WAL in which
each commit succeeded: a failed one leaves a mark behind that SQLite does not count. There the end
is asked of SQLite, until the WAL begins anew.

https://www.sqlite.org/fileformat2.html#walformat
"""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing, suppress
from io import FileIO
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store.opening import connect

_HEADER: Final = struct.Struct(">8I")
"""Magic, version, page size, number of checkpoints, two salts, two checksums."""
_FRAME: Final = struct.Struct(">6I")
"""Page number, size of the database in pages after a commit (else 0), two salts, two checksums."""
_FRAMES_AT_ONCE: Final = 16
"""Frames that one look takes in: more than most commits have."""
FOLD_FRAMES: Final = 1000
"""Frames after which the WAL is folded in, as SQLite does by itself."""


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
    """Pages by number, each in its latest version."""


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
        frames = _fold(conn)
    if frames == 0:  # nothing was written since the WAL was made
        return WalPart(since or WalPlace(0, 0), 0, 0, {})
    with open(beside(database), "rb", buffering=0) as file:
        return _read(file, since, frames)


def _fold(conn: sqlite3.Connection) -> int:
    """Fold the WAL in as far as readers allow; how many frames it has."""
    _, frames, _ = conn.execute("pragma wal_checkpoint(passive)").fetchone()
    return int(max(0, frames))


def _read(file: FileIO, since: WalPlace | None, frames: int) -> WalPart:
    """What was added since a place, of a WAL that has so many frames."""
    page_bytes, salt = _head(os.pread(file.fileno(), _HEADER.size, 0))
    first = _first(since, salt, frames)
    size = _FRAME.size + page_bytes
    data = os.pread(file.fileno(), (frames - first) * size, _HEADER.size + first * size)
    if len(data) != (frames - first) * size:
        raise Gap("the WAL is shorter than SQLite says")
    frames_read = _Frames(salt, page_bytes)
    if frames_read.add(data) != frames - first:
        raise Gap("the WAL has a frame of a former one")
    pages = frames_read.pages | frames_read.open  # SQLite counts none that was not committed
    return WalPart(WalPlace(salt, frames), page_bytes, frames_read.database_pages, pages)


def _read_marked(file: FileIO, since: WalPlace, salt: int, page_bytes: int) -> WalPart:
    """What was added since a place, up to the last mark of a commit."""
    first = _first(since, salt, since.frames)
    size = _FRAME.size + page_bytes
    frames, looked, is_on = _Frames(salt, page_bytes), first, True
    while is_on:
        at = _HEADER.size + looked * size
        data = os.pread(file.fileno(), _FRAMES_AT_ONCE * size, at)
        count = frames.add(data)
        looked += count
        is_on = count == _FRAMES_AT_ONCE
    place = WalPlace(salt, first + frames.committed)
    return WalPart(place, page_bytes, frames.database_pages, frames.pages)


def _head(data: bytes) -> tuple[int, int]:
    """The size of a page, and the first salt."""
    if len(data) < _HEADER.size:
        raise Gap("the WAL has no beginning")
    _, _, page_bytes, _, salt, _, _, _ = _HEADER.unpack(data)
    return page_bytes, salt


class _Frames:
    """Frames that follow each other, by their marks."""

    def __init__(self, salt: int, page_bytes: int) -> None:
        self._salt = salt
        self._size = _FRAME.size + page_bytes
        self._count = 0
        self.committed = 0
        """How many frames are before the last mark of a commit, or have it."""
        self.database_pages = 0
        self.pages: dict[int, bytes] = {}
        """Pages that are committed."""
        self.open: dict[int, bytes] = {}
        """Pages behind the last mark."""

    def add(self, data: bytes) -> int:
        """Add frames up to one of a former WAL, or one that is not whole; returns their number."""
        before = self._count
        for offset in range(0, len(data) - self._size + 1, self._size):
            number, after, salt, *_ = _FRAME.unpack_from(data, offset)
            if salt != self._salt:
                break
            self.open[number] = data[offset + _FRAME.size : offset + self._size]
            self._count += 1
            if after:
                self.database_pages, self.committed = after, self._count
                self.pages |= self.open
                self.open = {}
        return self._count - before


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
    next turn may find that WAL gone. One thread uses it at a time.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._place: WalPlace | None = None
        self._page_bytes = self._database_pages = 0
        self._pages: dict[int, bytes] = {}
        self._file: FileIO | None = None
        self._conn: sqlite3.Connection | None = None
        """Folds; kept, because each new one reads the schema first."""
        self._asked_salt: int | None = None
        """The salt of a WAL whose end SQLite has to tell."""
        self._folded = 0

    def turn(self, _: sqlite3.Connection) -> None:
        """A unit: read the new frames. Raises :class:`Gap`."""
        self._keep(turn(self._database, self._place))

    def read(self, *, is_sure: bool) -> None:
        """Read the new frames after a commit, while nothing can write.

        Args:
            is_sure: the commit, and all since the last read, succeeded.

        Raises:
            Gap: what was written cannot be known any more.
            sqlite3.Error, OSError: the disk refuses.
        """
        try:
            self._keep(self._new(is_sure))
        except BaseException:
            self.close()
            raise

    def _new(self, is_sure: bool) -> WalPart:
        if self._file is None:
            self._file = open(beside(self._database), "rb", buffering=0)  # noqa: SIM115 -- kept
        head = os.pread(self._file.fileno(), _HEADER.size, 0)
        if is_sure and self._place is not None and head:
            page_bytes, salt = _head(head)
            if salt != self._asked_salt:
                part = _read_marked(self._file, self._place, salt, page_bytes)
                self._fold_at_times(part.place)
                return part
        frames = self._folded = self._fold()
        if head:  # also of a WAL without frames: what failed in it may have left some behind
            _, self._asked_salt = _head(head)
        if frames == 0:  # nothing was written since the WAL was made
            return WalPart(self._place or WalPlace(0, 0), 0, 0, {})
        return _read(self._file, self._place, frames)

    def _fold_at_times(self, place: WalPlace) -> None:
        if self._place is not None and place.salt != self._place.salt:
            self._folded = 0
        if place.frames - self._folded >= FOLD_FRAMES:
            self._folded = place.frames
            if self._fold() != place.frames:
                raise Gap("the WAL has more or less in it than SQLite says")

    def _fold(self) -> int:
        if self._conn is None:
            self._conn = connect(self._database, "rw")
        return _fold(self._conn)

    def _keep(self, part: WalPart) -> None:
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
        """Forget the pages: they are shipped."""
        self._pages = {}

    def close(self) -> None:
        """Keep no file open; the next read opens it again, and asks SQLite for the end."""
        if self._file is not None:
            self._file.close()
        if self._conn is not None:
            with suppress(sqlite3.Error):
                self._conn.close()
        self._file = self._conn = None
