"""Tables as files for spreadsheets: CSV in which no cell is a formula, whatever it contains.

A file is UTF-8 with a byte order mark: without it, Excel takes the Arabic for Latin letters.
Programs read it as ``utf-8-sig``, or use the API. Excel in French and in Arabic separates cells by
semicolons and decimals by commas, so the reader can choose.

A spreadsheet runs cells that begin with ``=``, ``+``, ``-`` or ``@``, and removes the ``+`` from a
phone number. Both get an apostrophe in front, and so do the places in a text where a cell would
begin if the file were opened with another separator than its own. Numbers are not changed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, Protocol

from risala.dataclass import dataclass

MARK: Final = "\ufeff"


class OwnText(str):
    """Text of ours made of letters, digits, dashes and colons that does not begin with a dash: an
    id, a time, a fixed word. It is written unchanged; most of a file is of this type."""

    __slots__ = ()


Cell = str | OwnText | int | Decimal | None
_BEGINS: Final = "=+\\-@＝＋－＠"
"""Full-width forms are taken for the others in some languages."""
_ODD: Final = re.compile(f"[{_BEGINS}]")
_FORMULA: Final = re.compile(rf"\A(?=[\s\x00-\x1f\u200b-\u200f\u2066-\u2069\ufeff]*[{_BEGINS}])")
_FORMULA_WITHIN: Final = re.compile(
    rf"([;,\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029|])"
    rf"(?=[\s\x00-\x1f\"\u200b-\u200f\u2066-\u2069\ufeff]*[{_BEGINS}])"
)


class FileForm(Protocol):
    """The format of rows in a file."""

    @property
    def content_type(self) -> str: ...

    @property
    def mark(self) -> str:
        """The beginning of the file."""

    def line(self, cells: Sequence[Cell]) -> str:
        """One row with its end."""


@dataclass(frozen=True, slots=True)
class CsvForm:
    """The separators of cells and of decimals."""

    separator: str
    decimal_mark: str
    content_type: str = "text/csv; charset=utf-8"
    mark: str = MARK

    def line(self, cells: Sequence[Cell]) -> str:
        return csv_line(cells, self)


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Rows of one cell each, which is JSON already: for programs, and so as it is."""

    content_type: str = "application/x-ndjson"
    mark: str = ""

    def line(self, cells: Sequence[Cell]) -> str:
        return f"{cells[0]}\n"


JSON_LINES: Final = JsonLines()
COMMA: Final = CsvForm(",", ".")
SEMICOLON: Final = CsvForm(";", ",")
FORMS: Final = {"comma": COMMA, "semicolon": SEMICOLON}


def csv_line(cells: Sequence[Cell], form: CsvForm) -> str:
    """One row with its end, as RFC 4180 has it; every cell is quoted."""
    return form.separator.join([_quoted(cell, form) for cell in cells]) + "\r\n"


def _quoted(cell: Cell, form: CsvForm) -> str:
    if isinstance(cell, OwnText):
        return f'"{cell}"'
    if cell is None:
        return '""'
    if isinstance(cell, str):
        return f'"{harmless(cell).replace(chr(34), chr(34) * 2)}"'
    return f'"{cell}"'.replace(".", form.decimal_mark)


def harmless(text: str) -> str:
    """A text that a spreadsheet does not take for a formula, nor any part of it."""
    if _ODD.search(text) is None:
        return text
    within = _FORMULA_WITHIN.sub(r"\1'", text)
    return f"'{within}" if _FORMULA.match(text) else within
