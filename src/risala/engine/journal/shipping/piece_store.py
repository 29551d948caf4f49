"""Where a primary's pieces are put, and its standby finds them: a directory, or PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from risala.engine.journal.shipping.pieces import Current, EncodedPiece, PagePiece, Shipped
from risala.engine.journal.upkeep import backup


class Fenced(Exception):
    """Another machine holds the lease: the store takes nothing from this one any more."""


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
        """From here on standbys use this generation; older ones are deleted.

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

    def fetch(self, current: Current, target: Path, progress: backup.Progress) -> None:
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
