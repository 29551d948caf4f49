"""Small pieces of SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final


def value_of(conn: sqlite3.Connection, statement: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401 -- as SQLite gives it
    """The only column of the first row; None if there is no row."""
    for (value,) in conn.execute(statement, values):
        return value
    return None


def markers(values: Sequence[object]) -> str:
    """As many places as there are values, for ``IN (…)``."""
    return ", ".join("?" * len(values))


_SIZES: Final = (1, 8, 32, 128)
"""Sizes of lists of rows in a statement: few, so that each statement is compiled once."""
_HALVES: Final = (64, 32, 16, 8, 4, 2, 1)
"""Sizes of lists of rows in a write, which would write a row too many: any number is a sum of
these. In larger lists a row costs the same."""
Row = Sequence[object]


def rows_of_values(
    conn: sqlite3.Connection,
    statement: str,
    width: int,
    rows: Sequence[Row],
) -> list[tuple[Any, ...]]:
    """The rows of a query about many rows together, which it reads as ``column1``, ``column2``, …
    in place of ``{values}``.

    A query for each row would release the interpreter each time. A row may occur twice.
    """
    answers: list[tuple[Any, ...]] = []
    largest = _SIZES[-1]
    for start in range(0, len(rows), largest):
        some = rows[start : start + largest]
        size = next(size for size in _SIZES if size >= len(some))
        padded = [*some, *[some[-1]] * (size - len(some))]
        answers += conn.execute(_asked(statement, width, size), [*chain.from_iterable(padded)])
    return answers


def write_values(conn: sqlite3.Connection, statement: str, rows: Sequence[Row]) -> None:
    """Write many rows with one statement, which has them in place of ``{values}``.

    ``executemany`` releases the interpreter for each row and takes it again, which costs as much as
    the write while another thread is busy. None costs as much as ten other values, because an
    adapter is looked up each time.
    """
    start = 0
    for size in _HALVES:
        while len(rows) - start >= size:
            some = rows[start : start + size]
            filled = _asked(statement, len(some[0]), size)
            conn.execute(filled, [*chain.from_iterable(some)])
            start += size


@lru_cache(maxsize=128)
def _asked(statement: str, width: int, size: int) -> str:
    row = f"({markers(range(width))})"
    return statement.replace("{values}", f"VALUES {', '.join([row] * size)}")
