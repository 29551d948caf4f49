"""A generation, and how far it has come."""

from __future__ import annotations

from dataclasses import replace

from risala.dataclass import dataclass
from risala.engine.journal.shipping import pieces, wal
from risala.engine.journal.shipping.pieces import EncodedPiece


@dataclass(frozen=True, slots=True)
class Chain:
    """A whole copy and the pieces upon it, each of which names the one before."""

    generation: str
    snapshot: str
    """The whole copy's checksum."""
    size_bytes: int
    """Of the whole copy."""
    number: int = 0
    sha256: str = ""
    """The last piece's, or the whole copy's."""
    pieces_bytes: int = 0

    def piece(self, part: wal.WalPart, at: int) -> EncodedPiece:
        last = self.sha256 or self.snapshot
        return pieces.encode(self.generation, self.number + 1, at, part, last)

    def after(self, piece: EncodedPiece) -> Chain:
        written = self.pieces_bytes + len(piece.data)
        return replace(self, number=piece.number, sha256=piece.sha256, pieces_bytes=written)
