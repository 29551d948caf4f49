"""The standby's copy: a database file that follows the pieces."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.standby.stored import notes, pieces
from risala.engine.features.standby.stored.closed_database import last_entry_in
from risala.engine.features.standby.stored.notes import BadPiece, checked
from risala.engine.features.standby.stored.piece_store import PieceStore
from risala.engine.features.standby.stored.pieces import Current, PagePiece
from risala.engine.journal.store.opening import connect, refuse_foreign, sqlite_sentence
from risala.engine.journal.upkeep import checksum, database_copy
from risala.engine.model.errors import StorageUnusable

FOLDER: Final = "standby"
_POSITION: Final = "position.json"
_BEGUN: Final = "applying.json"
"""Up to which piece the copy may have something, if nobody has noted that it has all."""
_COPY: Final = "copy.db"
BATCH_PIECES: Final = 256
"""Pieces that are applied with one sync: with `before_answer` there are some dozens a second."""
BATCH_BYTES: Final = 16 * 1024 * 1024
"""Pages of a batch in memory, and those of one more piece."""


@dataclass(frozen=True, slots=True)
class CopyPosition:
    """The position up to which the copy has followed."""

    generation: str
    number: int
    sha256: str
    """The checksum of the last piece, or of the snapshot if there is no piece yet."""
    at: int
    """The copy is in the primary's state of this time, by its clock."""


class StandbyCopy:
    """A copy below the data directory. One process at a time follows."""

    def __init__(self, data_dir: Path, store: PieceStore) -> None:
        self.store = store
        self._folder = data_dir / FOLDER

    @property
    def file(self) -> Path:
        return self._folder / _COPY

    def position(self) -> CopyPosition | None:
        """None: nothing was copied yet."""
        note = notes.note_of(self._folder / _POSITION)
        return None if note is None else checked(CopyPosition, note, _POSITION)

    def follow(
        self, progress: database_copy.Progress, *, leaves_out_damaged: bool = False
    ) -> CopyPosition | None:
        """Apply all available pieces; None: the store has no whole copy yet.

        Args:
            leaves_out_damaged: end before a piece that is not what was written; do not refuse.

        Raises:
            BadPiece: a piece is not what was written, or even the copy that it begins with.
            OSError: the store or the disk refuses.
        """
        current = self.store.current()
        if current is None:
            return None
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        position = self.position()
        try:
            if position is None or position.generation != current.generation:
                position = self._fetch(current, progress)
            applied = self._apply_all(position, progress)
            if applied is None:
                applied = self._apply_all(self._fetch(current, progress), progress)
                assert applied is not None
            position = applied
        except BadPiece:
            position = self.position()  # the last whole position
            if not leaves_out_damaged or position is None or self._doubt(position) is not None:
                raise
        shipped = self.store.shipped()
        if shipped is not None and (shipped.generation, shipped.number) == (
            position.generation,
            position.number,
        ):
            # Nothing was written since: the copy is also valid for that later time.
            at = max(shipped.at, position.at)
            position = CopyPosition(position.generation, position.number, position.sha256, at)
        return position

    def _apply_all(
        self, position: CopyPosition, progress: database_copy.Progress
    ) -> CopyPosition | None:
        """Apply what there is; None: the copy has something of pieces that the store does not have,
        and is of no use."""
        doubt = self._doubt(position)
        while batch := self._batch(position):
            last = batch[-1]
            begun = CopyPosition(position.generation, last.number, last.sha256, last.at)
            if doubt is not None and doubt.number <= last.number:
                if doubt.sha256 not in [each.sha256 for each in batch]:
                    return None
                doubt = None
            if doubt is None:
                pieces.put(self._folder / _BEGUN, json.dumps(asdict(begun)).encode())
            self._apply(batch)
            position = self._note(begun)
            progress("following", position.number, 0)
        return position if doubt is None else None

    def _batch(self, position: CopyPosition) -> list[PagePiece]:
        """The next pieces, in their order: a disk that syncs slowly keeps up with many small ones.

        Raises:
            BadPiece: the very next one is not what was written.
        """
        pieces: list[PagePiece] = []
        size = 0
        while len(pieces) < BATCH_PIECES and size < BATCH_BYTES:
            try:
                piece = self._next(position)
            except BadPiece:
                if pieces:
                    break  # those before it are good
                raise
            if piece is None:
                break
            pieces.append(piece)
            size += piece.page_bytes * len(piece.pages)
            position = CopyPosition(position.generation, piece.number, piece.sha256, piece.at)
        return pieces

    def _doubt(self, position: CopyPosition) -> CopyPosition | None:
        """Up to which piece the copy may have something beyond what is noted; None: nowhere.

        So it is after a crash in the middle of a batch. To apply the same pieces again makes the
        copy good. If the store has others by then, as after a failover, nothing does.
        """
        note = notes.note_of(self._folder / _BEGUN)
        if note is None:
            return None
        begun = checked(CopyPosition, note, _BEGUN)
        is_later = begun.generation == position.generation and begun.number > position.number
        return begun if is_later else None

    def _next(self, position: CopyPosition) -> PagePiece | None:
        return self.store.read(position.generation, position.number + 1, position.sha256)

    def refuse_wrong(self) -> None:
        """Refuse a copy that this version could not serve from.

        Raises:
            StorageUnusable: another version has written it, it has something that Risala does not
                make, or it is no database.
        """
        with self._opened() as conn:
            refuse_foreign(conn, self.file)

    def refuse_damaged(self, progress: database_copy.Progress) -> None:
        """Refuse a copy in which SQLite finds a fault.

        Raises:
            StorageUnusable: it does.
        """
        with self._opened() as conn:
            database_copy.check(conn, self.file, progress)

    def last_entry(self) -> int:
        """The number of the ledger's last entry in the copy; 0: there is none.

        Raises:
            StorageUnusable: SQLite refuses.
        """
        with self._opened() as conn:
            return last_entry_in(conn)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The copy, to read. Immutable: its header says WAL, and SQLite would create WAL files
        beside it."""
        try:
            with closing(connect(self.file, "ro&immutable=1")) as conn:
                yield conn
        except sqlite3.Error as error:
            raise StorageUnusable(sqlite_sentence(self.file, error)) from error

    def settled(self, target: Path) -> None:
        """Write the copy as it is to ``target``, as a backup with its checksum.

        Raises:
            OSError: the disk refuses.
            StorageUnusable: SQLite refuses.
        """
        database_copy.remove(target)
        shutil.copyfile(self.file, target)
        target.chmod(0o600)
        try:
            with closing(connect(target, "rw")) as conn:
                conn.execute("pragma journal_mode = delete")  # its header says WAL
        except sqlite3.Error as error:
            raise StorageUnusable(sqlite_sentence(target, error)) from error
        checksum.write(target, checksum.of_file(target, database_copy.unheard))

    def _fetch(self, current: Current, progress: database_copy.Progress) -> CopyPosition:
        partial = self.file.with_name(f"{_COPY}.partial")
        database_copy.remove(partial)
        self.store.fetch(current, partial, progress)
        partial.chmod(0o600)
        if checksum.of_file(partial, progress) != current.sha256:
            raise BadPiece(f"The whole copy in {self.store} is not what was written.")
        with open(partial, "rb") as file:
            os.fsync(file.fileno())
        for name in (_POSITION, _BEGUN):  # they belong to the former copy
            (self._folder / name).unlink(missing_ok=True)
        partial.replace(self.file)
        database_copy.sync_directory(self._folder)
        at = pieces.begun_at(current.generation)
        return self._note(CopyPosition(current.generation, 0, current.sha256, at))

    def _apply(self, batch: list[PagePiece]) -> None:
        """After a crash in the middle, the same pieces are applied once more: they have whole
        pages."""
        descriptor = os.open(self.file, os.O_RDWR | os.O_CLOEXEC)
        try:
            size, free = os.fstat(descriptor).st_size, shutil.disk_usage(self._folder).free
            bytes_needed = max(piece.database_pages * piece.page_bytes for piece in batch)
            if bytes_needed - size > free:
                raise OSError(
                    f"{self.file} is to have {bytes_needed} octets, and {free} are free there."
                )
            for piece in batch:
                for number, data in piece.pages.items():
                    os.pwrite(descriptor, data, (number - 1) * piece.page_bytes)
                if piece.database_pages:
                    os.ftruncate(descriptor, piece.database_pages * piece.page_bytes)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _note(self, position: CopyPosition) -> CopyPosition:
        pieces.put(self._folder / _POSITION, json.dumps(asdict(position)).encode())
        return position
