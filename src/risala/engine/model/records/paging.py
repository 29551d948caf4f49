"""Pages of lists: their requests and answers, where a page begins, and how far the search goes."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from risala.dataclass import dataclass

T = TypeVar("T")
Place = tuple[int | str, ...]
"""A place in an index: a row's values in its last columns."""

TIME_END: Final = 2**63 - 1
"""Later than any moment."""
PAGE_MAX: Final = 200
"""Items of one answer."""
PAGE_USUAL: Final = 50
LOOKED_MAX: Final = 2000
"""Rows that one page reads: a few milliseconds, in which nothing else runs."""


@dataclass(frozen=True, slots=True)
class Steps:
    """How far a page goes, and from where."""

    limit: int
    before: Place | None = None
    after: Place | None = None
    looked_max: int = LOOKED_MAX


@dataclass(frozen=True, slots=True)
class NumberPart:
    """Digits in a row of a phone number."""

    digits: str
    ranges: tuple[tuple[int, int], ...]
    """The first and the last number of each range whose numbers have them."""


class TooManyNumbersError(Exception):
    """More numbers have the digits than are searched (``most``): more digits are needed."""

    def __init__(self, most: int) -> None:
        super().__init__(f"More than {most} numbers have these digits.")
        self.most = most


@dataclass(frozen=True, slots=True)
class CursorPage(Generic[T]):
    """A page, and where the next ones begin; None: no further page."""

    items: tuple[T, ...]
    newer: Place | None
    older: Place | None
    looked_to: T | None
    """The search came this far; the rest is on the next page."""
