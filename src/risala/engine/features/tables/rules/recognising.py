"""What a table is, by looking: its separator, its headings, the column of phone numbers. Pure."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.features.tables.records import COLUMNS_MAX, EMPTY_ROWS_MAX, NAME_MAX
from risala.engine.features.tables.rules.checking import has_number, read_number
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable
from risala.engine.features.tables.rules.rendering import cell_at, folded
from risala.engine.rules.people.names import name_in_file
from risala.sms.numbering.plan import NumberingPlan
from risala.sms.numbering.written import NumberFault, entries

SEPARATORS: Final = ("\t", ";", "|", ",")
"""The likelier first, where they are alike otherwise: a comma is also a decimal mark."""
TITLES_MAX: Final = 10
"""Rows of titles above the headings: more are another table."""
SAMPLE_ROWS: Final = 200
"""Rows by which a table is recognised."""

_named_separator: Final = re.compile(r'\s*"?sep=([^\w\r\n"])"?[\s;,|]*', re.IGNORECASE).fullmatch
_is_formula: Final = re.compile(r"=\s*[A-Za-z$(+\-@'].*", re.DOTALL).fullmatch
_quoted: Final = re.compile(r'="([^"]*)"').fullmatch
_marked: Final = re.compile(r"'[\s=+\-@＝＋－＠].*", re.DOTALL).fullmatch
_strong: Final = re.compile(
    r"t[eé]l\b|t[eé]l[eé]|phone|mobile|gsm|portable|cell|whatsapp|msisdn|هاتف|جوال|موبايل|تلفون"
    r"|تليفون|نقال|محمول"
).search
"""Headings of phone numbers."""
_weak: Final = re.compile(r"num[eé]ro|number|\bnum\b|\bn°|contact|رقم|ارقام|أرقام").search
"""Headings of numbers of any kind."""


class RecognisedTable(NamedTuple):
    """What was recognised of a table's rows."""

    has_header: bool
    columns: tuple[str, ...]
    number_column: int
    titles: int = 0
    """Rows above the headings that belong to nobody: the table's title, groups of columns."""

    @property
    def first_row(self) -> int:
        """The place of the first row that is a person's."""
        return self.titles + self.has_header


class SampleRow(NamedTuple):
    row: int
    """The row's number, as the file counts its rows, from 1."""
    cells: list[str]
    """The cells without the empty ones at the row's end."""
    width: int
    """How many cells it has with those; in a workbook, nothing says that, and it is
    ``COLUMNS_MAX``."""


def separator_named(first_line: str) -> str | None:
    """The separator that a first line ``sep=;`` names for spreadsheets; None: it is no such
    line."""
    separator = _named_separator(first_line)
    return None if separator is None else separator[1]


def recognise_separator(lines: Sequence[str], plan: NumberingPlan) -> str | None:
    """The separator of a text's first lines; None: the text has a single column."""
    rows = {each: [*sample_rows(split(lines, each))] for each in SEPARATORS}
    best = max(SEPARATORS, key=lambda each: _likelihood(rows[each], plan))
    return best if any(len(each.cells) > 1 for each in rows[best]) else None


def _likelihood(rows: Sequence[SampleRow], plan: NumberingPlan) -> tuple[float, float, int]:
    widths = Counter(len(each.cells) for each in rows)
    width, alike = max(widths.items(), key=lambda each: each[1], default=(0, 0))
    numbers = max(_shares(rows, plan), default=0.0)
    return numbers, 0.0 if width < 2 else alike / len(rows), width


def split(lines: Iterable[str], separator: str | None) -> Iterator[list[str]]:
    """The cells of a text's lines. A quoted cell may have line ends.

    Raises:
        UnreadableTable: a cell is longer than :func:`csv.field_size_limit`, or is a formula.
    """
    reader = csv.reader(lines, delimiter=separator or "\x1f", skipinitialspace=True)
    count = 0
    try:
        for cells in reader:
            count += 1
            yield [cleaned(cell) for cell in cells]
    except csv.Error:
        raise UnreadableTable(TableFault.CELL_TOO_LONG, count + 1) from None
    except UnreadableTable as error:
        raise UnreadableTable(error.fault, count) from None


def cleaned(cell: str) -> str:
    """A cell of a text, without what makes spreadsheets take it for a text.

    Raises:
        UnreadableTable: it is a formula.
    """
    text = cell.strip()
    if not text or text[0] not in "='":
        return text
    if quoted := _quoted(text):
        return quoted[1].strip()
    if _marked(text):
        return text[1:].strip()
    if _is_formula(text):
        raise UnreadableTable(TableFault.FORMULA_WITHOUT_VALUE)
    return text


def sample_rows(rows: Iterable[list[str]]) -> Iterator[SampleRow]:
    """Rows with their numbers, without blank ones and without empty cells at their ends.

    Raises:
        UnreadableTable: a row has too many cells, or too many rows are empty.
    """
    empty = PassedRows()
    for row, cells in enumerate(rows, start=1):
        width = len(cells)
        while cells and not cells[-1]:
            cells.pop()
        if len(cells) > COLUMNS_MAX:
            raise UnreadableTable(TableFault.TOO_MANY_COLUMNS, row)
        if cells:
            yield SampleRow(row, cells, width)
        else:
            empty.add()


@dataclass(slots=True)
class PassedRows:
    """Counts the rows of a file that are passed over, since nothing of them is read."""

    rows: int = 0

    def add(self) -> None:
        """Count one.

        Raises:
            UnreadableTable: there are too many.
        """
        self.rows += 1
        if self.rows > EMPTY_ROWS_MAX:
            raise UnreadableTable(TableFault.TOO_MANY_EMPTY_ROWS)


def recognise_table(
    sample: Sequence[SampleRow],
    plan: NumberingPlan,
    *,
    has_header: bool | None = None,
    number_column: int | None = None,
) -> RecognisedTable:
    """What a table is, by its first rows.

    Args:
        sample: some of its first rows.
        plan: reads the numbers.
        has_header: whether the first row has headings, but for titles above them, as somebody
            chose; None: by looking.
        number_column: the place of the phone numbers, as somebody chose; None: by looking.

    Raises:
        UnreadableTable: there is no row, no number, no such column, or two rows of headings.
    """
    if not sample:
        raise UnreadableTable(TableFault.EMPTY_FILE)
    width = max(len(each.cells) for each in sample)
    number_place = _number_column(sample, plan) if number_column is None else number_column
    if number_place is None:
        is_headed = len(sample) == 1 and any(map(_heading_weight, sample[0].cells))
        raise UnreadableTable(TableFault.NO_ROWS if is_headed else TableFault.NO_NUMBERS)
    if not 0 <= number_place < width:
        raise UnreadableTable(TableFault.UNKNOWN_COLUMN)
    headed = has_header
    titles = 0 if headed is False else _titles(sample, number_place, plan)
    sample = sample[titles:]
    if headed is None:
        headed = _is_heading(sample[0].cells, number_place, plan)
        if headed and len(sample) > 1 and _is_second_heading(sample, number_place):
            raise UnreadableTable(TableFault.TWO_HEADINGS, sample[1].row)
    names = sample[0].cells if headed else []
    columns = column_names(
        names, max(_width_below(sample, width), number_place + 1) if headed else width
    )
    return RecognisedTable(headed, columns, number_place, titles)


def _titles(sample: Sequence[SampleRow], number_column: int, plan: NumberingPlan) -> int:
    """How many rows above the headings are titles: each has fewer cells than the headings, or a
    figure where these have the numbers, and none is a heading of the numbers itself."""
    for at, row in enumerate(sample[1 : TITLES_MAX + 1], start=1):
        above = sample[:at]
        if any(
            _filled(each) > _filled(row) - (not _is_figure(each, number_column, plan))
            for each in above
        ):
            continue
        if _is_named(row, number_column, plan) and not any(
            _filled(each) > 1
            and (
                _strong(folded(cell_at(each.cells, number_column))) is not None
                or has_number(cell_at(each.cells, number_column), plan)
            )
            for each in above
        ):
            return at
        if _is_plain_heading(sample, at, number_column, plan):
            return at
    return 0


def _filled(row: SampleRow) -> int:
    return sum(map(bool, row.cells))


def _is_figure(row: SampleRow, number_column: int, plan: NumberingPlan) -> bool:
    """Whether a row has a day, a sum or the like in the numbers' column."""
    cell = cell_at(row.cells, number_column)
    return any(map(str.isdigit, cell)) and not has_number(cell, plan)


def _is_named(row: SampleRow, number_column: int, plan: NumberingPlan) -> bool:
    """Whether a row has a heading of phone numbers in their column."""
    cell = cell_at(row.cells, number_column)
    return _heading_weight(cell) > 0 and not has_number(cell, plan)


def _is_plain_heading(
    sample: Sequence[SampleRow], at: int, number_column: int, plan: NumberingPlan
) -> bool:
    """Whether a row has headings that do not say what they are: words alone, below a title of one
    cell and above the first person."""
    row, below = sample[at], sample[at + 1 : at + 2]
    if not cell_at(row.cells, number_column) or any(map(str.isdigit, "".join(row.cells))):
        return False
    if any(_filled(each) > 1 or cell_at(each.cells, number_column) for each in sample[:at]):
        return False
    return any(has_number(cell_at(each.cells, number_column), plan) for each in below)


def _width_below(sample: Sequence[SampleRow], width: int) -> int:
    """How wide a table with headings is. The headings say it, but for a few that are left out: a
    single wider row has a separator in one of its values."""
    usual = Counter(len(each.cells) for each in sample[1:]).most_common(1)
    headings = sample[0]
    return max(len(headings.cells), min(headings.width, width), usual[0][0] if usual else 0)


def column_names(headings: Sequence[str], width: int) -> tuple[str, ...]:
    """A name for each column, each once: its heading, or its number where it has none. The sheets
    of a workbook get theirs in the same way."""
    names: list[str] = []
    known: set[str] = set()
    counts: Counter[str] = Counter()
    for place in range(width):
        heading = name_in_file(cell_at(headings, place), NAME_MAX) or str(place + 1)
        name, alike = heading, folded(heading)
        plain = alike
        while plain in known:
            # It goes on where the last heading like it ended: all columns may have the same one.
            counts[alike] = max(counts[alike], 1) + 1
            name = f"{heading} {counts[alike]}"
            plain = f"{alike} {counts[alike]}"
        known.add(plain)
        names.append(name)
    return tuple(names)


def numbers_of(text: str) -> list[str] | None:
    """The numbers of a pasted text that has nothing but numbers, in any number on a line; None: it
    has words, and is a table."""
    if any(each.isalpha() for each in text):
        return None
    return entries(text)


def _shares(
    rows: Sequence[SampleRow],
    plan: NumberingPlan,
    is_number: Callable[[str, NumberingPlan], bool] = has_number,
) -> list[float]:
    """How many of the rows have a phone number, for each column."""
    width = max((len(each.cells) for each in rows), default=0)
    counts = [0] * width
    for each in rows:
        for place, cell in enumerate(each.cells):
            counts[place] += is_number(cell, plan)
    return [count / len(rows) for count in counts]


def _is_nearly(cell: str, plan: NumberingPlan) -> bool:
    """Whether a cell is a number, or something about it is why it is none."""
    return read_number(cell, plan) is not NumberFault.NUMBER


def _number_column(sample: Sequence[SampleRow], plan: NumberingPlan) -> int | None:
    """The column with the most phone numbers; of headings that say so, half of that is enough."""
    shares = _shares(sample, plan)
    if not any(shares):  # then each row says what is wrong with it
        shares = _shares(sample, plan, _is_nearly)
    scores = [
        share + _heading_weight(cell_at(sample[0].cells, place))
        for place, share in enumerate(shares)
        if share
    ]
    if not scores:
        return None
    places = [place for place, share in enumerate(shares) if share]
    return places[scores.index(max(scores))]


def _heading_weight(heading: str) -> float:
    name = folded(heading)
    if _strong(name):
        return 0.5
    return 0.2 if _weak(name) else 0.0


def _is_heading(cells: Sequence[str], number_column: int, plan: NumberingPlan) -> bool:
    cell = cell_at(cells, number_column)
    if cell:
        has_digits = any(each.isdigit() for each in cell)
        return not has_number(cell, plan) and (not has_digits or _heading_weight(cell) > 0)
    return not any(each.isdigit() for other in cells for each in other)


def _is_second_heading(sample: Sequence[SampleRow], number_column: int) -> bool:
    """Whether the second row has headings too: a title or groups stand above them, or they are
    repeated in another language."""
    first, second = (cell_at(each.cells, number_column) for each in sample[:2])
    if not second or any(each.isdigit() for each in second):
        return False
    return (
        not first or _heading_weight(second) > 0 or len(sample[0].cells) == 1 < len(sample[1].cells)
    )
