"""The hash chain of the audit trail: each line's hash covers the line and the hash before it. Pure.

A line's hash is SHA-256 over the former line's hash and the line itself, written as a JSON list of
its columns in :data:`COLUMNS`' order: no spaces, everything beyond ASCII escaped. An auditor's
program does the same in three lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.model.times import iso

COLUMNS: Final = (
    *("seq", "at", "who", "face", "role", "action"),
    *("organization_id", "subject", "before", "after"),
)
"""What a hash covers, as the table has it: ``before`` and ``after`` are texts or null."""
HASH: Final = "hash"
"""The column with a line's own hash."""
GENESIS: Final = "0" * 64
"""The hash before the first line."""
_ACTION: Final = COLUMNS.index("action")


@dataclass(frozen=True, slots=True)
class ChainEnd:
    """A line's number and its hash."""

    seq: int
    hash: str

    @property
    def text(self) -> str:
        return f"{self.seq} {self.hash}"

    @classmethod
    def of(cls, text: str | None) -> ChainEnd | None:
        """What :attr:`text` wrote; None: it did not."""
        seq, _, digest = (text or "").partition(" ")
        return cls(int(seq), digest) if seq.isdecimal() and digest else None


EMPTY: Final = ChainEnd(0, GENESIS)
"""The end of a trail without lines."""


def canonical(values: Sequence[object]) -> str:
    """A line as its hash covers it: its values in the order of :data:`COLUMNS`."""
    return json.dumps([*values], separators=(",", ":"), default=repr)


def hash_of(previous: str, values: Sequence[object]) -> str:
    """A line's hash.

    Args:
        previous: the hash of the line before; :data:`GENESIS` before the first.
        values: in the order of :data:`COLUMNS`.
    """
    return sha256(f"{previous}{canonical(values)}".encode()).hexdigest()


@dataclass(slots=True)
class ChainWalk:
    """Goes along all lines once, and yields a sentence for each place where the chain breaks.

    It holds one line at a time: a trail of any length takes the memory of one. After a break it
    goes on from the hash that is stored, so that one changed line is one fault.
    """

    end: ChainEnd = EMPTY
    """The last line that was seen."""
    lines: int = 0
    _bad: tuple[str, int] | None = None
    """The first line of a run that does not fit, in words, and how many lines it has."""

    def faults(self, rows: Iterable[Sequence[Any]], noted: ChainEnd | None) -> Iterator[str]:
        """The breaks of a trail, in order.

        Args:
            rows: by their numbers; each has the columns of :data:`COLUMNS` and then its hash.
            noted: the last line as the database notes it elsewhere; None: no note was found.
        """
        was_there = True
        for row in rows:
            self.lines += 1
            seq = row[0]
            if seq < 1:
                yield f"{_described(row)} was put in: lines are numbered from 1"
                continue
            if seq != self.end.seq + 1:
                yield from self._ended()
                yield _missing(self.end.seq + 1, seq - 1, f"{_described(row)} follows")
                was_there = False
            if was_there and hash_of(self.end.hash, row[:-1]) != row[-1]:
                first, count = self._bad or (_described(row), 0)
                self._bad = (first, count + 1)
            else:
                yield from self._ended()
            self.end, was_there = ChainEnd(seq, str(row[-1])), True
        yield from self._ended()
        yield from self._at_end(noted)

    def _ended(self) -> Iterator[str]:
        if self._bad is None:
            return
        first, count = self._bad
        self._bad = None
        more = "" if count == 1 else f"; so it is with the {count - 1} after it"
        yield (
            f"{first} does not follow from the one before it: one of the two was changed or put"
            f" in{more}"
        )

    def _at_end(self, noted: ChainEnd | None) -> Iterator[str]:
        if noted is None:
            if self.lines:
                yield f"audit trail, line {self.end.seq}: the note of the last line is missing"
        elif noted.seq > self.end.seq:
            yield _missing(self.end.seq + 1, noted.seq, "they were the last")
        elif noted.seq < self.end.seq:
            yield f"audit trail, lines after {noted.seq}: Risala did not write them"
        elif noted.hash != self.end.hash:
            yield f"audit trail, line {self.end.seq}: its hash is not the one that was noted"


def _missing(first: int, last: int, then: str) -> str:
    if first == last:
        return f"audit trail, line {first}: it is missing; {then}"
    return f"audit trail, lines {first} to {last}: they are missing; {then}"


def _described(row: Sequence[Any]) -> str:
    """A line in words: its number, its time and what it is about."""
    action = str(row[_ACTION]).encode("ascii", "backslashreplace").decode()
    return f"audit trail, line {row[0]} ({moment(row[1])}, {action})"


def moment(at_ms: object) -> str:
    """A time in words, whatever somebody wrote in its place."""
    try:
        return iso(int(str(at_ms)))
    except (ValueError, OverflowError, OSError):
        return f"time {at_ms!r}"
