"""What is measured, against what, and whether the goal is reached. Arithmetic alone."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.stand import Stand
    from benchmarks.trees import Tree

Round = Callable[[], dict[str, float]]
"""One measurement: the lines' names with their values."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a line should come to: ``number`` times another line, or that number itself."""

    number: float
    of: str | None = None
    """Another line, measured in the same round; None: the number is the goal."""
    most: bool = False
    """At most, not at least."""

    def words(self, unit: str) -> str:
        return f"{'≤' if self.most else '≥'} {self.number:,g} {f'× {self.of}' if self.of else unit}"

    def reached(self, value: float) -> bool:
        return value <= self.number if self.most else value >= self.number


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the report."""

    name: str
    unit: str
    goals: tuple[Goal, ...] = ()
    against: str | None = None
    """Shown as a ratio to this line where there is no goal."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that is measured once a round, and gives some lines."""

    name: str
    lines: tuple[Line, ...]
    open: Callable[[Stand, Tree, ExitStack], Round]
    """Start what is needed and give back what measures once.

    Raises:
        Absent: this machine has not got what it takes.
    """
    of_tree: bool = True
    """Differs from tree to tree; False for yardsticks and for the programs of others."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Several measurements of one thing."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))


@dataclass(slots=True)
class Series:
    """All that was measured of one tree, or of the yardsticks: by line, one value a round."""

    values: dict[str, dict[int, float]] = field(default_factory=dict)

    def put(self, turn: int, found: dict[str, float]) -> None:
        for name, value in found.items():
            self.values.setdefault(name, {})[turn] = value

    def spread(self, name: str) -> Spread | None:
        found = self.values.get(name)
        return Spread.of(list(found.values())) if found else None


def ratio(upper: dict[int, float] | None, lower: dict[int, float] | None) -> Spread | None:
    """Of two lines, round by round: what slowed a whole round down has slowed both."""
    if not upper or not lower:
        return None
    pairs = [upper[turn] / lower[turn] for turn in upper.keys() & lower.keys() if lower[turn]]
    return Spread.of(pairs) if pairs else None
