"""A model of the standby's tables in memory: pieces, whole copies and the lease of two machines.

It keeps the rules that PostgreSQL keeps there: whoever does not hold the lease writes nothing, and
a piece goes only upon the one before it. That both behave the same is shown by
``tests/engine/features/standby/test_stores.py``, which runs on each.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from risala.engine.features.standby.lease import (
    EPOCH_MAX,
    LeaseLost,
    LeaseMemory,
    LeaseTaken,
    SendLease,
)
from risala.engine.features.standby.stored import pieces
from risala.engine.features.standby.stored.piece_store import Fenced, Spoilt, write_whole
from risala.engine.features.standby.stored.pieces import Current, EncodedPiece, PagePiece, Shipped


@dataclass
class MemoryTables:
    """What the server has, of one installation."""

    lease: SendLease | None = None
    former: SendLease | None = None
    generations: dict[str, bytes] = field(default_factory=dict)
    """Whole copies."""
    pieces: dict[tuple[str, int], EncodedPiece] = field(default_factory=dict)
    current: Current | None = None
    shipped: Shipped | None = None
    awaited: bool = False
    lock: Lock = field(default_factory=Lock)
    """A statement at a time."""

    def lose(self, generation: str, above: int) -> None:
        """A failover has brought a server without the last pieces."""
        for key in [key for key in self.pieces if key[0] == generation and key[1] > above]:
            del self.pieces[key]


def reachable() -> None:
    """The server answers."""


class MemoryPieces:
    """One machine's way to it: a
    :class:`~risala.engine.features.standby.stored.piece_store.PieceStore`."""

    def __init__(
        self,
        tables: MemoryTables,
        mine: Callable[[], LeaseMemory],
        reach: Callable[[], None] = reachable,
    ) -> None:
        """``reach`` raises an ``OSError`` where the server cannot be asked now."""
        self._tables, self._mine, self._reach = tables, mine, reach

    def __str__(self) -> str:
        return "the model of PostgreSQL"

    def _hold(self) -> None:
        """What each statement that writes looks at."""
        self._reach()
        mine, lease = self._mine(), self._tables.lease
        if lease is None or (lease.epoch, lease.holder) != (mine.epoch, mine.holder):
            raise Fenced(f"Another machine has taken the lease {mine.epoch}.")

    def begin(self, generation: str, database: Path) -> tuple[str, int]:
        with tempfile.TemporaryDirectory(dir=database.parent) as folder:
            whole = Path(folder) / "whole.db"
            made = write_whole(database, whole)
            data = whole.read_bytes()
        with self._tables.lock:
            self._hold()
            self._tidy()
            self._tables.generations[generation] = data
        return made

    def add(self, piece: EncodedPiece) -> None:
        with self._tables.lock:
            self._hold()
            key, there = (piece.generation, piece.number), self._tables.pieces
            before = there.get((piece.generation, piece.number - 1))
            if piece.number > 1 and (before is None or before.sha256 != piece.before):
                raise Spoilt("It no longer has what was shipped.")
            if key in there or piece.generation not in self._tables.generations:
                raise OSError(f"It refuses piece {piece.number} of {piece.generation}.")
            there[key] = piece
            current = self._tables.current
            if current is not None and current.generation == piece.generation:
                self._tables.shipped = Shipped(piece.generation, piece.number, piece.at)

    def has(self, piece: EncodedPiece) -> bool:
        with self._tables.lock:
            self._reach()
            found = self._tables.pieces.get((piece.generation, piece.number))
        if found is None:
            return False
        if found.sha256 != piece.sha256:
            raise Spoilt(f"It has another piece of the number {piece.number}.")
        self.note(Shipped(piece.generation, piece.number, piece.at))
        return True

    def publish(self, current: Current, shipped: Shipped, *, awaited: bool = False) -> None:
        with self._tables.lock:
            self._hold()
            self._tables.current, self._tables.shipped = current, shipped
            self._tables.awaited = awaited
            self._tidy()

    def note(self, shipped: Shipped) -> None:
        with self._tables.lock:
            self._hold()
            current, key = self._tables.current, (shipped.generation, shipped.number)
            is_current = current is not None and current.generation == shipped.generation
            if not is_current or key not in self._tables.pieces:
                raise Spoilt("It no longer has what was shipped.")
            self._tables.shipped = shipped

    def mark_awaited(self, *, awaited: bool) -> None:
        with self._tables.lock:
            self._hold()
            if self._tables.current is not None:
                self._tables.awaited = awaited

    def is_awaited(self, generation: str) -> bool:
        found = self.current()
        return found is not None and found.generation == generation and self._tables.awaited

    def is_spoilt(self, generation: str, number: int) -> bool:
        self._reach()
        there = generation in self._tables.generations
        return not there or (generation, number) in self._tables.pieces

    def current(self) -> Current | None:
        self._reach()
        return self._tables.current

    def shipped(self) -> Shipped | None:
        self._reach()
        return self._tables.shipped

    def fetch(self, current: Current, target: Path, progress: object) -> None:
        self._reach()
        try:
            target.write_bytes(self._tables.generations[current.generation])
        except KeyError:
            raise OSError("The whole copy has ended while it was read.") from None

    def read(self, generation: str, number: int, last: str) -> PagePiece | None:
        self._reach()
        piece = self._tables.pieces.get((generation, number))
        if piece is None:
            return None
        return pieces.decode(piece.data, f"Piece {number}", generation, number, last)

    def last(self, generation: str) -> int:
        self._reach()
        numbers = (number for name, number in self._tables.pieces if name == generation)
        return max(numbers, default=0)

    def wait(self, span_s: float) -> None:
        """Whoever follows a model looks when it wants to."""

    def _tidy(self) -> None:
        """Delete all generations except the one in use."""
        tables = self._tables
        kept = None if tables.current is None else tables.current.generation
        tables.generations = {
            key: value for key, value in tables.generations.items() if key == kept
        }
        tables.pieces = {key: value for key, value in tables.pieces.items() if key[0] == kept}


class MemoryLease:
    """A :class:`~risala.engine.features.standby.lease.LeaseStore`."""

    settles_s = 0.0

    def __init__(self, tables: MemoryTables, reach: Callable[[], None] = reachable) -> None:
        self._tables, self._reach = tables, reach

    def highest(self) -> SendLease | None:
        self._reach()
        return self._tables.lease

    def before(self, lease: SendLease) -> SendLease | None:
        self._reach()
        held = self._tables.lease
        return self._tables.former if held is not None and held.epoch == lease.epoch else None

    def last_right(self) -> SendLease | None:
        self._reach()
        both = (self._tables.lease, self._tables.former)
        return next((each for each in both if each is not None and each.epoch <= EPOCH_MAX), None)

    def mend(self, lease: SendLease) -> None:
        with self._tables.lock:
            self._reach()
            held = self._tables.lease
            if held is not None and held.epoch > EPOCH_MAX:
                self._tables.lease = lease

    def take(self, holder: str, term_s: int, entries: int, at: int, epoch: int) -> SendLease:
        with self._tables.lock:
            self._reach()
            held, made = self._tables.lease, SendLease(epoch, holder, "m", term_s, 0, at, entries)
            if held is not None and held.epoch >= epoch:
                if (held.epoch, held.holder) != (epoch, holder):
                    raise LeaseTaken(held)
                return made
            self._tables.lease, self._tables.former = made, held
            return made

    def renew(
        self, lease: SendLease, entries: int, at: int, *, released: bool = False
    ) -> SendLease:
        with self._tables.lock:
            self._reach()
            held = self._tables.lease
            if held is None or held.epoch < lease.epoch:
                raise LeaseLost(f"It no longer has the lease {lease.epoch}.")
            if (held.epoch, held.holder) != (lease.epoch, lease.holder):
                raise LeaseTaken(held)
            count = lease.count + 1
            made = replace(lease, count=count, entries=entries, at=at, released=released)
            self._tables.lease = made
            return made
