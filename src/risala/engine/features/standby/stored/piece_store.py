"""The store where a primary's pieces are put and its standby finds them: a directory, or
PostgreSQL."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

from risala.engine.features.standby.stored import notes, pieces
from risala.engine.features.standby.stored.pieces import Current, EncodedPiece, PagePiece, Shipped
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.upkeep import checksum, database_copy


class Fenced(Exception):
    """The store takes nothing from this machine any more: another one holds the lease."""


class Spoilt(OSError):
    """The store lacks what the next piece goes upon: a new whole copy has to begin."""


class PieceStore(Protocol):
    """Each call may take as long as the store does: call it in a thread.

    Whatever is refused for now raises an ``OSError`` with a sentence, and is tried again.
    """

    def __str__(self) -> str:
        """The store in a sentence: "There is no copy in …"."""
        ...

    def begin(self, generation: str, database: Path) -> tuple[str, int]:
        """Put a whole copy of the database, which standbys do not see before :meth:`publish`.

        Returns:
            Its checksum, and its size in octets.

        Raises:
            OSError: the store refuses.
            Fenced: this machine may not write any more.
        """
        ...

    def add(self, piece: EncodedPiece) -> None:
        """Put the next piece, whole and synced.

        Raises:
            Spoilt: the store does not have the piece before it.
            OSError: the store refuses; whether the piece is there is unknown.
            Fenced: this machine may not write any more.
        """
        ...

    def has(self, piece: EncodedPiece) -> bool:
        """Whether this very piece is there, as safe as one whose :meth:`add` has returned.

        Raises:
            Spoilt: another one has its number.
            OSError: the store cannot be asked.
            Fenced: this machine may not write any more.
        """
        ...

    def publish(self, current: Current, shipped: Shipped, *, awaited: bool = False) -> None:
        """Let standbys use this generation from here on; older ones are deleted.

        Args:
            awaited: as of :meth:`mark_awaited`.

        Raises:
            OSError: the store refuses.
            Fenced: this machine may not write any more.
        """
        ...

    def note(self, shipped: Shipped) -> None:
        """Note up to which piece the copy is, and of which time.

        Raises:
            OSError: the store refuses.
            Fenced: this machine may not write any more.
        """
        ...

    def mark_awaited(self, *, awaited: bool) -> None:
        """Note whether every answer waits for its piece from now on. Before the first whole copy
        there is nothing to note.

        Raises:
            OSError: the store refuses.
            Fenced: this machine may not write any more.
        """
        ...

    def is_awaited(self, generation: str) -> bool:
        """Whether every answer has waited for the pieces of the generation that standbys use: so
        they have whatever was answered.

        Raises:
            OSError: the store cannot be read.
        """
        ...

    def is_spoilt(self, generation: str, number: int) -> bool:
        """Whether the generation is gone while its store exists, or has a piece of this number, of
        which it is unknown whether a standby has seen it.

        Raises:
            OSError: the store cannot be asked.
        """
        ...

    def current(self) -> Current | None:
        """The generation to follow; None: there is no whole copy yet.

        Raises:
            BadPiece: it is not what was written.
            OSError: the store cannot be read.
        """
        ...

    def shipped(self) -> Shipped | None:
        """How far the primary has come; None: there is nothing yet.

        Raises:
            BadPiece: it is not what was written.
            OSError: the store cannot be read.
        """
        ...

    def fetch(self, current: Current, target: Path, progress: database_copy.Progress) -> None:
        """Write the whole copy that a generation begins with to a file; its reader checks it.

        Raises:
            OSError: the store cannot be read, or the disk refuses.
        """
        ...

    def read(self, generation: str, number: int, last: str) -> PagePiece | None:
        """A piece; None: it does not exist yet.

        Args:
            last: the checksum of the piece before it.

        Raises:
            BadPiece: it is not the next one.
            OSError: the store cannot be read.
        """
        ...

    def last(self, generation: str) -> int:
        """The highest number of a piece that is there, also beyond one that is missing; 0: none.

        Raises:
            OSError: the store cannot be read.
        """
        ...

    def wait(self, span_s: float) -> None:
        """Return when something new may be there, and after ``span_s`` at the latest."""
        ...


class PieceDirectory:
    """A :class:`PieceStore`: pieces in a directory that both machines can reach. Nothing fences it:
    who may write there is decided by the lease alone."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def begin(self, generation: str, database: Path) -> tuple[str, int]:
        # The remains of an unpublished attempt would keep the missing space for ever.
        with suppress(notes.BadPiece):  # if the good one is unknown, all stay
            self._tidy(pieces.current(self._path))
        place = pieces.folder(self._path, generation)
        # The directory itself is not created: if it is missing, something is not mounted.
        place.mkdir(mode=0o700)
        target = place / pieces.SNAPSHOT
        return write_whole(database, target)

    def add(self, piece: EncodedPiece) -> None:
        pieces.put(pieces.file_of(self._path, piece.generation, piece.number), piece.data)

    def has(self, piece: EncodedPiece) -> bool:
        try:
            there = pieces.file_of(self._path, piece.generation, piece.number).read_bytes()
        except FileNotFoundError:
            return False
        if there != piece.data:
            raise Spoilt(f"{self} has another piece of the number {piece.number}.")
        return True

    def publish(self, current: Current, shipped: Shipped, *, awaited: bool = False) -> None:
        # No answer waits for a directory, which nothing fences.
        pieces.put_note(self._path / pieces.CURRENT, current)
        pieces.put_note(self._path / pieces.SHIPPED, shipped)
        self._tidy(current)

    def note(self, shipped: Shipped) -> None:
        pieces.put_note(self._path / pieces.SHIPPED, shipped)

    def mark_awaited(self, *, awaited: bool) -> None:
        pass

    def is_awaited(self, generation: str) -> bool:
        return False

    def is_spoilt(self, generation: str, number: int) -> bool:
        if not pieces.folder(self._path, generation).exists():
            return self._path.exists()
        return pieces.file_of(self._path, generation, number).exists()

    def current(self) -> Current | None:
        return pieces.current(self._path)

    def shipped(self) -> Shipped | None:
        return pieces.shipped(self._path)

    def fetch(self, current: Current, target: Path, progress: database_copy.Progress) -> None:
        progress("copying", 0, 0)
        source = pieces.folder(self._path, current.generation) / pieces.SNAPSHOT
        size, free = source.stat().st_size, shutil.disk_usage(target.parent).free
        if size > free:  # it may be a file of holes, which grow as they are copied
            raise OSError(f"{source} has {size} octets, and {target.parent} has {free} free.")
        shutil.copyfile(source, target)

    def read(self, generation: str, number: int, last: str) -> PagePiece | None:
        return pieces.read(self._path, generation, number, last)

    def last(self, generation: str) -> int:
        numbers = (
            int(path.stem)
            for path in pieces.folder(self._path, generation).glob("[0-9]*.piece")
            if path.stem.isdecimal()
        )
        return max(numbers, default=0)

    def wait(self, span_s: float) -> None:
        time.sleep(span_s)

    def _tidy(self, current: Current | None) -> None:
        """Delete all generations except the one in use."""
        kept = None if current is None else pieces.folder(self._path, current.generation)
        for each in self._path.glob("gen-*"):
            if each != kept:
                shutil.rmtree(each, ignore_errors=True)


def write_whole(database: Path, target: Path) -> tuple[str, int]:
    """Write a whole copy of a database, which may be in use, to a new file (0600), and sync it.

    Returns:
        Its checksum, and its size in octets.
    """
    descriptor = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with closing(open_reader(database)) as source:
            database_copy.copy(source, target, database_copy.unheard)
        os.fsync(descriptor)
        size = os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    database_copy.sync_directory(target.parent)
    return checksum.of_file(target, database_copy.unheard), size
