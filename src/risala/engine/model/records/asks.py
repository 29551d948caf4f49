"""Requests of faces: the name of an operation, and the type of its answer.

A face imports asks and records, never the operations themselves: a command starts without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

from risala.dataclass import dataclass

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Ask(Generic[R]):
    """An operation in the form for faces."""

    name: str
    result: type[R]


@dataclass(frozen=True, slots=True)
class FeatureAccess(Generic[R]):
    """What a feature offers that is no operation: ``R`` is its shape."""

    feature: str


class Versioned(NamedTuple, Generic[R]):
    """An operation's answer with its version."""

    value: R
    version: int | None
    """The version of the object, if it can be edited: an edit sends it back, so that it does not
    overwrite an unseen change. None: the operation edits nothing."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """An answer in JSON, from a service that may be older or newer than the caller."""

    value: R
    json: Mapping[str, Any]
    """The whole answer, including members unknown to the record."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Done, without an answer."""


# Pages of lists: their requests and answers, where a page begins, and how far the search goes.

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
