"""Workbooks (XLSX), row by row, by openpyxl.

openpyxl knows the parts of a workbook: its sheets, its styles, what a cell says. The strings that
cells share and the rows are read here: each is forgotten as soon as it is read, and a formula
without its value is noticed, which openpyxl takes for an empty cell.
"""

from __future__ import annotations

import re
import warnings
from array import array
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import date, datetime, time
from itertools import chain, islice
from pathlib import Path
from typing import IO, Final
from xml.etree.ElementTree import Element, iterparse
from zipfile import ZipFile

from openpyxl.reader.excel import ExcelReader
from openpyxl.styles.stylesheet import apply_stylesheet
from openpyxl.worksheet._reader import WorkSheetParser

from risala.engine.features.tables.reader.opened import Choice, Hidden, OpenedTable
from risala.engine.features.tables.reader.strict import TransitionalArchive
from risala.engine.features.tables.records import (
    CELL_CHARACTERS_MAX,
    COLUMNS_MAX,
    NAME_MAX,
    Recognised,
)
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable
from risala.engine.features.tables.rules.recognising import (
    SAMPLE_ROWS,
    PassedRows,
    RecognisedTable,
    SampleRow,
    column_names,
    recognise_table,
)
from risala.engine.rules.people.names import name_in_file

EXPANDED_MAX_BYTES: Final = 200_000_000
"""All parts of a workbook, unpacked: ten times a file, which is usual."""
SHEETS_MAX: Final = 100
"""Sheets that are offered."""
ROW_NUMBER_MAX: Final = 1_048_576
"""The last row of a sheet in every program that writes workbooks: its number fits everywhere."""

_MAIN: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_DATA, _ROW, _CELL, _VALUE, _FORMULA, _COLUMN = (
    f"{_MAIN}{name}" for name in ("sheetData", "row", "c", "v", "f", "col")
)
_SHARED, _RUN, _TEXT = (f"{_MAIN}{name}" for name in ("si", "r", "t"))
_TYPES: Final = "[Content_Types].xml"
_HIDDEN: Final = ("1", "true")
"""How a part says that a row or a column is hidden, as a filter hides rows (ECMA-376 part 1,
18.3.1.73)."""
_STRINGS: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
_NOTHING: Final = frozenset({TableFault.EMPTY_FILE, TableFault.ALL_HIDDEN})
"""What is said of a workbook only while none of its sheets gives a better reason."""
_escaped: Final = re.compile("_x([0-9A-Fa-f]{4})_").sub
"""A character that XML does not have, such as ``_x000D_`` (ECMA-376 part 1, 22.9.2.19)."""


def open_workbook(path: Path, choice: Choice) -> OpenedTable:
    """The sheet that was chosen, or the first with phone numbers.

    Raises:
        UnreadableTable: it is no workbook, cannot be read, or has no table of people.
    """
    warnings.simplefilter("ignore")
    try:
        return _opened(path, choice)
    except (UnreadableTable, MemoryError):
        raise
    except Exception as error:
        # A damaged file breaks openpyxl anywhere.
        raise UnreadableTable(TableFault.BROKEN_WORKBOOK) from error


def _opened(path: Path, choice: Choice) -> OpenedTable:
    with ZipFile(path) as archive:
        _look_through(archive)
    # openpyxl looks at a name's ending; an upload's has another.
    workbook = _Workbook(choice.files.enter_context(path.open("rb")))
    choice.files.callback(workbook.archive.close)
    names = tuple(workbook.sheets)[:SHEETS_MAX]
    chosen_name = (
        None if choice.chosen.sheet is None else _named(choice.chosen.sheet, workbook.sheets)
    )
    hides = workbook.hides_sheets
    fault = UnreadableTable(TableFault.ALL_HIDDEN if hides else TableFault.EMPTY_FILE)
    for name in names if chosen_name is None else (chosen_name,):
        hidden = Hidden(with_hidden=choice.chosen.with_hidden)
        rows = _whole(workbook.rows(name, hidden))
        sample = [*islice(rows, SAMPLE_ROWS)]
        try:
            table = _table(sample, choice)
        except UnreadableTable as error:
            # Another sheet may have the people; what is said is of the first with any rows.
            if fault.fault in _NOTHING:
                is_empty = error.fault is TableFault.EMPTY_FILE
                is_hidden = _has_hidden_people(workbook, name, choice, hidden)
                if not is_empty or is_hidden:
                    fault = UnreadableTable(TableFault.ALL_HIDDEN) if is_hidden else error
            continue
        recognised = Recognised(
            encoding="xlsx",
            separator=None,
            sheet=name,
            sheets=names,
            has_header=table.has_header,
            columns=table.columns,
            number_column=table.number_column,
        )
        width = len(table.columns)
        people = chain(sample[table.first_row :], rows)
        return OpenedTable(recognised, _within(people, width), hidden)
    raise fault


def _named(sheet: str, sheets: Collection[str]) -> str:
    """The sheet of this name, which a draft may have kept as the file writes it.

    Raises:
        UnreadableTable: there is none.
    """
    name = name_in_file(sheet, NAME_MAX)
    if name not in sheets:
        raise UnreadableTable(TableFault.UNKNOWN_SHEET)
    return name


def _has_hidden_people(workbook: _Workbook, name: str, choice: Choice, hidden: Hidden) -> bool:
    """Whether a sheet that shows no people has some in what it hides."""
    if not hidden.rows and not hidden.columns:
        return False
    whole = _whole(workbook.rows(name, Hidden(with_hidden=True)))
    try:
        _table([*islice(whole, SAMPLE_ROWS)], choice)
    except UnreadableTable:
        return False
    return True


def _table(sample: list[SampleRow], choice: Choice) -> RecognisedTable:
    return recognise_table(
        sample,
        choice.plan,
        has_header=choice.chosen.has_header,
        number_column=choice.chosen.number_column,
    )


def _whole(rows: Iterator[SampleRow]) -> Iterator[SampleRow]:
    """The rows; what goes wrong while they are read is the file's fault too."""
    try:
        yield from rows
    except (UnreadableTable, MemoryError, GeneratorExit):
        raise
    except Exception as error:
        raise UnreadableTable(TableFault.BROKEN_WORKBOOK) from error


def _within(rows: Iterator[SampleRow], width: int) -> Iterator[SampleRow]:
    """The rows without what stands beside the table."""
    for row, cells, whole in rows:
        yield SampleRow(row, cells[:width], whole)


def _look_through(archive: ZipFile) -> None:
    """Refuse what is no workbook, and what unpacks to more than anybody's list.

    No part can be longer than the archive says: :mod:`zipfile` reads so many octets.
    """
    names = {*archive.namelist()}
    if sum(each.file_size for each in archive.infolist()) > EXPANDED_MAX_BYTES:
        raise UnreadableTable(TableFault.TOO_BIG)
    if "xl/workbook.bin" in names or "Index/Document.iwa" in names:
        raise UnreadableTable(TableFault.OTHER_WORKBOOK)
    if "mimetype" in names:
        is_sheet = b"opendocument.spreadsheet" in archive.read("mimetype")
        raise UnreadableTable(TableFault.OTHER_WORKBOOK if is_sheet else TableFault.NOT_A_TABLE)
    if _TYPES not in names or not any(each.startswith("xl/") for each in names):
        raise UnreadableTable(TableFault.NOT_A_TABLE)


class _Workbook(ExcelReader):  # type: ignore[misc]
    """The parts of a workbook that rows need."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, read_only=True, data_only=True, keep_links=False)
        self.archive: ZipFile = TransitionalArchive(file)
        self.read_manifest()
        self.read_workbook()
        apply_stylesheet(self.archive, self.wb)
        parts = [
            (sheet.name, relation.target)
            for sheet, relation in self.parser.find_sheets()
            if sheet.state == "visible" and "chartsheet" not in relation.Type
        ]
        names = column_names([name for name, _ in parts], len(parts))
        self.sheets: dict[str, str] = {
            name: part for name, (_, part) in zip(names, parts, strict=True)
        }
        self.hides_sheets = any(sheet.state != "visible" for sheet in self.parser.sheets)
        self._shared: SharedTexts | None = None
        self._passed = PassedRows()

    def rows(self, sheet: str, hidden: Hidden) -> Iterator[SampleRow]:
        """The rows of a sheet that have anything in them.

        Args:
            hidden: what is left out is counted in it.
        """
        if self._shared is None:
            self._shared = self._shared_texts()
        with self.archive.open(self.sheets[sheet]) as source:
            yield from _Rows(
                source,
                self._shared,
                data_only=True,
                epoch=self.wb.epoch,
                date_formats=self.wb._date_formats,
                timedelta_formats=self.wb._timedelta_formats,
            ).rows(hidden, self._passed)

    def _shared_texts(self) -> SharedTexts:
        part = self.package.find(_STRINGS)
        if part is None:
            return SharedTexts()
        with self.archive.open(part.PartName[1:]) as source:
            return SharedTexts(source)


class SharedTexts:
    """The texts that cells share, in as little memory as they need."""

    def __init__(self, source: IO[bytes] | None = None) -> None:
        self._octets = bytearray()
        self._ends = array("L", (0,))
        if source is not None:
            for each in _elements(source, _SHARED):
                self._add("".join(_texts(each)))

    def _add(self, text: str) -> None:
        # One more than a cell may have, so that it is noticed where a cell has it.
        self._octets += text[: CELL_CHARACTERS_MAX + 1].encode("utf-8", "replace")
        self._ends.append(len(self._octets))

    def __getitem__(self, place: int) -> str:
        return self._octets[self._ends[place] : self._ends[place + 1]].decode()


def _elements(source: IO[bytes], tag: str) -> Iterator[Element]:
    """The elements of a name that stand under the root; each is forgotten behind its use."""
    root: Element | None = None
    for event, element in _events(source):
        if root is None:
            root = element
        if event == "end" and element.tag == tag:
            yield element
            root.clear()


def _events(source: IO[bytes]) -> Iterator[tuple[str, Element]]:
    """The beginnings and ends of elements. Entities are expanded a little only (by expat), none is
    fetched, and this process has bounds for the rest."""
    yield from iterparse(source, ("start", "end"))  # noqa: S314 - see the docstring


def _texts(shared: Element) -> Iterator[str]:
    """What is written of a shared text, without how it is pronounced."""
    for child in shared:
        if child.tag == _TEXT:
            yield child.text or ""
        elif child.tag == _RUN:
            yield child.findtext(_TEXT) or ""


class _Rows(WorkSheetParser):  # type: ignore[misc]
    """The rows of one sheet."""

    source: IO[bytes]
    row_counter: int
    col_counter: int

    def rows(self, hidden: Hidden, passed: PassedRows) -> Iterator[SampleRow]:
        """The rows that have anything to show.

        Args:
            hidden: what is left out is counted in it.
            passed: counts all rows that are empty or left out, of all sheets.
        """
        cells: dict[int, str] = {}
        data: Element | None = None
        is_shown = True
        for event, element in _events(self.source):
            tag = element.tag
            if event == "start":
                if tag == _DATA:
                    data = element
                elif tag == _ROW:
                    self._begin(element)
                    cells, is_shown = {}, not _is_hidden(element, "ht")
            elif tag == _CELL:
                if text := self._text(element):
                    cells[self.col_counter] = text
                element.clear()
            elif tag == _COLUMN and _is_hidden(element, "width"):
                hidden.add_columns(int(element.get("min", "1")), int(element.get("max", "1")))
            elif tag == _ROW and data is not None:
                data.clear()
                if cells and (shown := hidden.shown(cells, is_shown=is_shown)):
                    yield SampleRow(self.row_counter, shown, COLUMNS_MAX)
                else:
                    passed.add()
            elif tag == _DATA:
                return

    def _begin(self, row: Element) -> None:
        """
        Raises:
            UnreadableTable: its number is none of a sheet's, or not after that of the row before.
        """
        written, before = row.get("r"), self.row_counter
        self.row_counter = before + 1 if written is None else int(float(written))
        if not before < self.row_counter <= ROW_NUMBER_MAX:
            raise UnreadableTable(TableFault.BROKEN_WORKBOOK)
        self.col_counter = 0

    def _text(self, cell: Element) -> str:
        """What a cell says.

        Raises:
            UnreadableTable: it is a formula without a value, too long or too far to the right.
        """
        if cell.find(_FORMULA) is not None and not _has_value(cell):
            raise UnreadableTable(TableFault.FORMULA_WITHOUT_VALUE, self.row_counter)
        parsed = self.parse_cell(cell)
        text = _written(parsed["value"], parsed["data_type"])
        if len(text) > CELL_CHARACTERS_MAX:
            raise UnreadableTable(TableFault.CELL_TOO_LONG, self.row_counter)
        if text and self.col_counter > COLUMNS_MAX:
            raise UnreadableTable(TableFault.TOO_MANY_COLUMNS, self.row_counter)
        return text


def _is_hidden(element: Element, size: str) -> bool:
    """Whether a row or a column is hidden, or has no height or width."""
    if element.get("hidden") in _HIDDEN:
        return True
    with suppress(ValueError):
        return float(element.get(size, "1")) == 0
    return False


def _has_value(cell: Element) -> bool:
    """Whether a formula's value is there; that of one for a text may be empty."""
    value = cell.find(_VALUE)
    return value is not None and (bool(value.text) or cell.get("t") == "str")


def _written(value: object, data_type: str) -> str:
    """A cell's value as people write it; an error (``#N/A``) is nothing."""
    if value is None or data_type == "e":
        return ""
    if isinstance(value, str):
        return _unescaped(value).strip()
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return format(value, ".15g") if abs(value) < 1e15 else str(value)
    if isinstance(value, datetime):
        return value.strftime("%d/%m/%Y %H:%M" if value.time() != time() else "%d/%m/%Y")
    if isinstance(value, date):
        return value.strftime("%d/%m/%Y")
    if isinstance(value, time):
        return value.strftime("%H:%M")
    return str(value)


def _unescaped(text: str) -> str:
    if "_x" in text:
        with suppress(ValueError):
            text = _escaped(lambda match: chr(int(match[1], 16)), text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
