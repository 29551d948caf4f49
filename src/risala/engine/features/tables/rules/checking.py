"""Whether a row of a table can become a message: its number, its values, its text. Pure.

What only the engine knows is decided there: countries that are not open, people who opted out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.features.tables.records import RowFault
from risala.engine.features.tables.rules.rendering import TextPieces, cell_at, text_pieces
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.numbering.plan import NumberingPlan
from risala.sms.numbering.written import NumberFault, UnreadNumber
from risala.sms.segment import count
from risala.sms.typed import Purpose, typed
from risala.sms.unseen import as_sent, as_value, without_unseen

_strange: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffd-\uffff]").search
"""Finds what no text has: control characters but tab and line ends, halves of characters, and
U+FFFD, which stands for a character that could not be read."""
_FAULTS: Final = {
    NumberFault.SHORTENED: RowFault.NUMBER_SHORTENED,
    NumberFault.TWO_NUMBERS: RowFault.TWO_NUMBERS,
    NumberFault.EXTENSION: RowFault.EXTENSION,
    NumberFault.NOT_SERVED: RowFault.NOT_SERVED,
}
_is_date: Final = re.compile(
    r"((19|20)\d\d([-/.])\d\d?\3\d\d?|[0-3]?\d([-/.])[01]?\d\4(19|20)\d\d)(\D.*)?"
    r"|(19|20)\d\d ?[-/] ?(19|20)\d\d"
).fullmatch
"""A day, or a school year: without its separators it may be a number of the plan."""
_has_digits: Final = re.compile(r"(?:\d\D*){5}").search
"""Most cells have no number, and this tells that soonest."""
_looks_like_one: Final = re.compile(r"\+?(?:[\s().-]*\d){7,}[\s().-]*").fullmatch
"""Seven digits or more, with what people put between those of a number: fewer have no country."""
_wrapped: Final = re.compile(r'=?"(?P<quoted>[^"]*)"|[\'’](?P<marked>.*)', re.DOTALL).fullmatch
"""``="22…"`` and ``'22…``: how spreadsheets, and our own reports, keep a number a text."""


class CheckedRow(NamedTuple):
    """What checking found about a row."""

    row: int
    """The row's number, as the file counts its rows, from 1."""
    number: str | None
    """``+`` and digits; None: its cell is no phone number."""
    cells: tuple[str, ...]
    fault: RowFault | None
    column: str | None
    """The column that the fault is about; of a missing value, possibly a name that no column
    has."""
    segments: int
    """0 where there is a fault, or no text yet."""


@dataclass(frozen=True, slots=True)
class RowChecker:
    """Checks the rows of one table."""

    columns: tuple[str, ...]
    number_column: int
    pieces: TextPieces | None
    """The text, taken apart; None: only numbers are checked."""
    plan: NumberingPlan
    smart: bool
    """Whether typographic characters are replaced, as the organization wants it."""

    def check(self, row: int, cells: Sequence[str], seen: set[str] | None = None) -> CheckedRow:
        """What is wrong with a row, if anything.

        Args:
            row: as the file counts its rows.
            seen: the numbers of earlier rows, to which this row's is added; None: doubles are not
                looked for.
        """
        values = tuple(cells)
        number = read_number(cell_at(values, self.number_column), self.plan)
        if isinstance(number, NumberFault):
            return self._bad(row, None, values, *self._without_number(values, number))
        if seen is not None:
            if number in seen:
                return self._bad(row, number, values, RowFault.DOUBLE, self.number_column)
            seen.add(number)
        if len(values) > len(self.columns):
            return CheckedRow(row, number, values, RowFault.CELLS, None, 0)
        if self.pieces is None:
            return CheckedRow(row, number, values, None, None, 0)
        return self._of_text(row, number, values, self.pieces)

    def _without_number(
        self, cells: tuple[str, ...], fault: NumberFault
    ) -> tuple[RowFault, int | None]:
        """What is wrong with a row whose cell is no number, and of which column that is said."""
        if fault is NumberFault.NUMBER:
            for place, cell in enumerate(cells[: len(self.columns)]):
                if has_number(cell, self.plan):
                    return RowFault.OTHER_COLUMN, place
            return _no_number(cell_at(cells, self.number_column)), self.number_column
        return _FAULTS[fault], self.number_column

    def _of_text(
        self, row: int, number: str, cells: tuple[str, ...], pieces: TextPieces
    ) -> CheckedRow:
        if pieces.unknown:
            missing = RowFault.VALUE_MISSING
            return CheckedRow(row, number, cells, missing, pieces.unknown[0], 0)
        for place in pieces.used:
            if not without_unseen(as_value(cell_at(cells, place))):
                return self._bad(row, number, cells, RowFault.VALUE_MISSING, place)
        text = pieces.filled(cells)
        if _strange(text):
            strange = (place for place in pieces.used if _strange(cell_at(cells, place)))
            return self._bad(row, number, cells, RowFault.CHARACTERS, next(strange, None))
        if not text.strip():
            return self._bad(row, number, cells, RowFault.EMPTY, None)
        if len(text) > TEXT_CHARACTERS_MAX:
            return self._bad(row, number, cells, RowFault.TOO_LONG, None)
        size = count(as_sent(text, smart=self.smart))
        return CheckedRow(row, number, cells, None, None, size.segments)

    def _bad(
        self,
        row: int,
        number: str | None,
        cells: tuple[str, ...],
        fault: RowFault,
        place: int | None,
    ) -> CheckedRow:
        known = place is not None and place < len(self.columns)
        column = self.columns[place] if known and place is not None else None
        return CheckedRow(row, number, cells, fault, column, 0)


def row_checker(
    columns: Sequence[str],
    number_column: int,
    text: str | None,
    plan: NumberingPlan,
    smart: bool,
) -> RowChecker:
    """What checks the rows of a table.

    Args:
        columns: their names.
        number_column: the place of the phone numbers.
        text: with its placeholders; None or empty: there is none yet, and only numbers are
            checked.
        plan: reads the numbers.
        smart: whether typographic characters are replaced where that makes a text shorter.
    """
    names = tuple(columns)
    pieces = text_pieces(text, names) if text and text.strip() else None
    return RowChecker(names, number_column, pieces, plan, smart)


def check_row(
    cells: Sequence[str],
    columns: Sequence[str],
    number_column: int,
    text: str | None,
    plan: NumberingPlan,
    smart: bool,
    *,
    row: int = 0,
) -> CheckedRow:
    """What is wrong with one row, if anything; doubles are not looked for.

    The arguments are those of :func:`row_checker`.
    """
    return row_checker(columns, number_column, text, plan, smart).check(row, cells)


def read_number(cell: str, plan: NumberingPlan) -> str | NumberFault:
    """The phone number that a cell has, as ``+`` and digits, or why it has none; a day is none,
    whatever its digits would be."""
    written = _unwrapped(cell)
    if _is_day(written):
        return NumberFault.NUMBER
    try:
        return plan.read(written)
    except UnreadNumber as error:
        return error.fault


def _is_day(written: str) -> bool:
    plain = " ".join(typed(each, Purpose.NUMBER) for each in written.split())
    return _is_date(plain) is not None


def _unwrapped(cell: str) -> str:
    """A cell as it was typed."""
    wrapped = _wrapped(cell.strip())
    return cell if wrapped is None else wrapped["quoted"] or wrapped["marked"] or ""


def _no_number(cell: str) -> RowFault:
    """What is wrong with a cell that is no number of the plan: it may look like one."""
    written = without_unseen(as_value(_unwrapped(cell))).strip()
    if not written:
        return RowFault.NUMBER_MISSING
    is_one = _looks_like_one(written) is not None and not _is_day(written)
    return RowFault.NUMBER_UNSERVED if is_one else RowFault.NUMBER


def has_number(cell: str, plan: NumberingPlan) -> bool:
    """Whether a cell is a phone number."""
    return _has_digits(cell) is not None and not isinstance(read_number(cell, plan), NumberFault)
