"""A store of pieces in memory, which can be told to fail as a database far away does."""

from __future__ import annotations

import threading
from pathlib import Path

from patience import HANG_S
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.piece_store import Fenced, Spoilt, write_whole
from risala.engine.features.standby.stored.pieces import Current, EncodedPiece, PagePiece, Shipped


class MemoryStore:
    """A :class:`~risala.engine.features.standby.stored.piece_store.PieceStore`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.copies: dict[str, bytes] = {}
        self.pieces: dict[tuple[str, int], EncodedPiece] = {}
        self.published: tuple[Current, Shipped] | None = None
        self.awaited = False
        self.open = threading.Event()
        """Cleared: whatever is asked hangs until it is set."""
        self.open.set()
        self.tries = 0
        """How often a piece was to be put."""
        self.refusals: list[str] = []
        """What the next pieces get: ``before`` nothing was done, or ``after``, ``fenced``."""
        self.asked = threading.Event()
        """Set when a piece is to be put."""

    def __str__(self) -> str:
        return "memory"

    def _pass(self) -> None:
        assert self.open.wait(HANG_S)

    def begin(self, generation: str, database: Path) -> tuple[str, int]:
        self._pass()
        target = self._folder / f"{generation}.whole"
        made = write_whole(database, target)
        self.copies[generation] = target.read_bytes()
        return made

    def add(self, piece: EncodedPiece) -> None:
        self.tries += 1
        self.asked.set()
        self._pass()
        refusal = self.refusals.pop(0) if self.refusals else None
        if refusal == "fenced":
            raise Fenced("Another machine has taken the lease.")
        if refusal == "before":
            raise OSError("It refuses.")
        key = (piece.generation, piece.number)
        before = self.pieces.get((piece.generation, piece.number - 1))
        if piece.number > 1 and (before is None or before.sha256 != piece.before):
            raise Spoilt("It lacks the piece before.")
        if key in self.pieces:
            raise OSError("There is one already.")
        self.pieces[key] = piece
        if refusal == "after":
            raise OSError("The connection is lost.")

    def has(self, piece: EncodedPiece) -> bool:
        self._pass()
        found = self.pieces.get((piece.generation, piece.number))
        if found is not None and found != piece:
            raise Spoilt("It has another one.")
        return found is not None

    def publish(self, current: Current, shipped: Shipped, *, awaited: bool = False) -> None:
        self._pass()
        self.published, self.awaited = (current, shipped), awaited

    def note(self, shipped: Shipped) -> None:
        self._pass()
        assert self.published is not None
        self.published = (self.published[0], shipped)

    def mark_awaited(self, *, awaited: bool) -> None:
        if not self.open.is_set():
            raise OSError("It does not answer.")
        self.awaited = awaited

    def is_awaited(self, generation: str) -> bool:
        current = self.current()
        return current is not None and current.generation == generation and self.awaited

    def is_spoilt(self, generation: str, number: int) -> bool:
        return generation not in self.copies

    def current(self) -> Current | None:
        return None if self.published is None else self.published[0]

    def shipped(self) -> Shipped | None:
        return None if self.published is None else self.published[1]

    def fetch(self, current: Current, target: Path, progress: object) -> None:
        target.write_bytes(self.copies[current.generation])

    def read(self, generation: str, number: int, last: str) -> PagePiece | None:
        piece = self.pieces.get((generation, number))
        if piece is None:
            return None
        return pieces.decode(piece.data, "piece", generation, number, last)

    def wait(self, span_s: float) -> None:
        pass
