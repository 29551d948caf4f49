"""Pieces in a directory that both machines can reach."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import closing, suppress
from pathlib import Path

from risala.engine.journal.shipping import notes, pieces
from risala.engine.journal.shipping.piece_store import Spoilt
from risala.engine.journal.shipping.pieces import Current, EncodedPiece, PagePiece, Shipped
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.upkeep import backup, checksum


class PieceDirectory:
    """A :class:`~risala.engine.journal.shipping.piece_store.PieceStore`. Nothing fences it: who
    may write there is decided by the lease alone."""

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

    def fetch(self, current: Current, target: Path, progress: backup.Progress) -> None:
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
            backup.copy(source, target, _unheard)
        os.fsync(descriptor)
        size = os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)
    backup.sync_directory(target.parent)
    return checksum.of_file(target, _unheard), size


def _unheard(step: str, done: int, total: int) -> None:
    pass
