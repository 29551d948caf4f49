"""What a guard is: a few words of the source that keep a promise, and the tests that miss them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard, and how it is taken away."""

    promise: str
    """What holds because of it."""
    file: str
    """Below ``src/risala``."""
    words: str
    """As they stand in the file, once."""
    instead: str
    """What stands there when the guard is gone."""
    tests: tuple[str, ...]
    """Below ``tests``: where a test must fail then, the likeliest place first."""

    @property
    def source(self) -> str:
        """The file with the guard in it."""
        return (ROOT / "src/risala" / self.file).read_text("utf-8")

    def take_away(self, source: str) -> str:
        """The file without the guard.

        Raises:
            LookupError: its words do not stand there, or not once: the table is to be mended.
        """
        if source.count(self.words) != 1:
            raise LookupError(f"{self.file} has {source.count(self.words)} × {self.words!r}")
        return source.replace(self.words, self.instead)
