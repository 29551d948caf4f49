"""Tables of people: how large one may be, how it is to be read, and what its rows have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass

ROWS_MAX: Final = 100_000
"""Rows of one mailing, and of one list."""
EMPTY_ROWS_MAX: Final = 2 * ROWS_MAX
"""Rows of a file, in all its sheets, that are empty or hidden: to pass over one takes as long as to
read one, and a million are five kilobytes of a workbook."""
FILE_BYTES_MAX: Final = 20_000_000
"""Bytes of an uploaded file."""
COLUMNS_MAX: Final = 100
"""Columns of a table: more is no list of people."""
CELL_CHARACTERS_MAX: Final = 1000
"""Characters of a cell: more is no word for a text."""
NAME_MAX: Final = 100
"""Characters of a mailing's or a list's name."""


class RowFault(StrEnum):
    """What is wrong with a row."""

    NUMBER = "number"
    """The number's cell is no phone number."""
    NUMBER_MISSING = "number_missing"
    """The number's cell is empty."""
    NUMBER_UNSERVED = "number_unserved"
    """The number's cell has the digits of a number, but not of one that the service serves."""
    NUMBER_SHORTENED = "number_shortened"
    """A spreadsheet has written its number as ``4.917E+11``, without the last digits."""
    TWO_NUMBERS = "two_numbers"
    """The number's cell has two numbers."""
    EXTENSION = "extension"
    """The number has an extension."""
    OTHER_COLUMN = "other_column"
    """The number's cell is no phone number, and another column has one."""
    NOT_SERVED = "not_served"
    """The number is of a country that the service does not serve."""
    COUNTRY = "country"
    """The organization does not send to that country."""
    OPTED_OUT = "opted_out"
    DOUBLE = "double"
    """An earlier row has the same number."""
    VALUE_MISSING = "value_missing"
    """A column that the text names is empty."""
    CHARACTERS = "characters"
    """The text has characters that no carrier takes."""
    TOO_LONG = "too_long"
    """The text is longer than a message may be."""
    EMPTY = "empty"
    """The text is empty."""
    CELLS = "cells"
    """The row has more cells than the table has columns: mostly a separator inside a value."""
    POLICY = "policy"
    """A policy of the operator refused it."""
    SENDER = "sender"
    """The sender is not allowed."""
    OTHER = "other"
    """The message was refused for another reason."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """How somebody wants a file to be read; None: what is found by looking."""

    encoding: str | None = None
    separator: str | None = None
    sheet: str | None = None
    has_header: bool | None = None
    number_column: int | None = None
    """The place of the column with the phone numbers, from 0."""
    with_hidden: bool = False
    """Whether rows and columns are read that the sheet hides."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """How a file is read: what was found by looking, or what somebody chose."""

    encoding: str
    """``utf-8``, ``utf-16``, ``windows-1252``, ``windows-1256``, ``macintosh`` or ``ibm850``; of a
    workbook ``xlsx``."""
    separator: str | None
    """``;``, ``,``, a tab or ``|``; None: it has no separators (a workbook, a single column)."""
    sheet: str | None
    """The sheet of a workbook."""
    sheets: tuple[str, ...]
    """All sheets of a workbook."""
    has_header: bool
    """Whether the table's first row has the columns' names."""
    columns: tuple[str, ...]
    """The columns' names, or ``1``, ``2``, … where the file has none."""
    number_column: int
    """The place of the column with the phone numbers, from 0."""
    hidden_rows: int = 0
    hidden_columns: int = 0
    """What the sheet of a workbook hides, by hand or by a filter, with anything in it."""
    with_hidden: bool = False
    """Whether these are read all the same; else they are left out."""


@dataclass(frozen=True, slots=True)
class ListRows:
    """A list that was written as the rows of a mailing."""

    name: str
    columns: tuple[str, ...]
    number_column: int
    rows: int


_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def cells_text(cells: Sequence[str]) -> str:
    """The values of a row as they are stored: Arabic takes less room as it is."""
    return _JSON(cells)


def cells_of(text: str) -> tuple[str, ...]:
    """The reverse of :func:`cells_text`."""
    return tuple(json.loads(text))
