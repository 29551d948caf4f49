"""Pages of lists, as they are asked for and answered: where a page begins, and how far it looks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")
Place = tuple[int | str, ...]
"""Where one stands in an index: a row's values in its last columns."""

TIME_END: Final = 2**63 - 1
"""Later than any moment."""
LOOKED_MAX: Final = 2000
"""Rows that one page looks at: a few milliseconds, in which nothing else is done."""


@dataclass(frozen=True, slots=True)
class Steps:
    """How far one goes, and from where."""

    limit: int
    before: Place | None = None
    after: Place | None = None
    looked_max: int = LOOKED_MAX


@dataclass(frozen=True, slots=True)
class CursorPage(Generic[T]):
    """A page, and where the next ones begin; None: there are none."""

    found: tuple[T, ...]
    newer: Place | None
    older: Place | None
    looked_to: T | None
    """So far it was looked, and what lies beyond is on the next page."""
