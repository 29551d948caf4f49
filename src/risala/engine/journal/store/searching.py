"""What a search looks for: texts by a part of them, and numbers by some of their digits.

Numbers are found in an index of numbers, by the ranges in which those with the digits lie. Their
rows are then read number by number, so that a page costs the same with a million rows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.store.sql import value_of
from risala.engine.model.records.asks import NumberPart, TooManyNumbersError

NUMBERS_MAX: Final = 2000
"""Numbers that are read one by one: some ten milliseconds, on a thread of its own. Four digits have
so many among some four million."""
REPEATS: Final = 2
"""How often a word may repeat each of its letters, on the average, before it is a slow one."""
_BEYOND: Final = "~"
"""Sorts after all digits."""
_BEHIND: Final = " "
"""Sorts before all digits: behind a number, and before all that are longer."""


@dataclass(frozen=True, slots=True)
class NumberIndex:
    """An index whose rows, below ``where``, are in the order of a column of numbers."""

    source: str
    """The table, with the index."""
    column: str
    where: str
    values: tuple[object, ...]


def numbers_with(conn: sqlite3.Connection, index: NumberIndex, part: NumberPart) -> list[str]:
    """The numbers with these digits that have rows.

    Raises:
        TooManyNumbersError: there are more than :data:`NUMBERS_MAX`.
    """
    within = f"{index.source} WHERE {index.where} AND {index.column} BETWEEN "
    # Few of thousands of ranges have rows: one statement finds them. Numbers of countries that are
    # not served have no ranges: those that begin with the digits are found.
    filled = conn.execute(
        "WITH ranges (low, high) AS (SELECT '+' || json_extract(value, '$[0]'),"  # noqa: S608 -- constants
        " '+' || json_extract(value, '$[1]') FROM json_each(?) UNION ALL VALUES (?, ?))"
        f" SELECT low, high FROM ranges WHERE EXISTS (SELECT 1 FROM {within} low AND high) LIMIT ?",
        (
            *(json.dumps(part.ranges), f"+{part.digits}", f"+{part.digits}{_BEYOND}"),
            *(*index.values, NUMBERS_MAX + 1),
        ),
    ).fetchall()
    following = (
        f"SELECT {index.column} FROM {within} ? AND ?"  # noqa: S608 -- constants
        f" ORDER BY {index.column} LIMIT 1"
    )
    looked: set[str] = set()
    for low, high in filled:
        number: str | None = value_of(conn, following, (*index.values, low, high))
        while number is not None:
            looked.add(number)
            if len(looked) > NUMBERS_MAX:
                raise TooManyNumbersError(NUMBERS_MAX)
            number = value_of(conn, following, (*index.values, f"{number}{_BEHIND}", high))
    # Between two numbers of a range there may be longer ones, without the digits.
    return sorted(each for each in looked if part.digits in each)


def part(text: str) -> str:
    """A pattern of LIKE for everything that contains this text."""
    plain = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{plain}%"


def spellings(text: str) -> list[str]:
    """The cases in which a name is searched: SQLite itself handles only those of ASCII."""
    if text.isascii():
        return [text]
    return list(dict.fromkeys((text, text.lower(), text.upper(), text.title())))


def is_slow_in_like(text: str) -> bool:
    """Whether ``instr`` finds a text sooner than ``LIKE``: LIKE begins anew at each letter that is
    also the first one, and goes through signs beyond ASCII one by one. It is the quicker one for
    ordinary words. Both heed the case of ASCII letters alike, once ``lower`` is around them."""
    return not text.isascii() or len(text) > REPEATS * len(set(text.lower()))


def containing(columns: Sequence[str], text: str) -> tuple[str, tuple[str, ...]]:
    """The condition that one of some columns contains a text, in any of its spellings."""
    if is_slow_in_like(text):
        spelled = tuple(spellings(text))
        terms = [f"instr(lower({each}), lower(?))" for each in columns for _ in spelled]
        return f"({' OR '.join(terms)})", spelled * len(columns)
    patterns = tuple(map(part, spellings(text)))
    terms = [f"{each} LIKE ? ESCAPE '\\'" for each in columns for _ in patterns]
    return f"({' OR '.join(terms)})", patterns * len(columns)
