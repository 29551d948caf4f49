"""Text files with separators, piece by piece, and pasted lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final, TextIO

from risala.engine.features.tables.reader.opened import Choice, OpenedTable
from risala.engine.features.tables.records import CELL_CHARACTERS_MAX, COLUMNS_MAX, Recognised
from risala.engine.features.tables.rules.encodings import UTF_8, EncodingEvidence, FoundEncoding
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable
from risala.engine.features.tables.rules.recognising import (
    SAMPLE_ROWS,
    SampleRow,
    column_names,
    numbers_of,
    recognise_separator,
    recognise_table,
    sample_rows,
    separator_named,
    split,
)

PIECE_BYTES: Final = 65_536
"""How many bytes of a file are read at a time."""
LINE_CHARACTERS_MAX: Final = COLUMNS_MAX * CELL_CHARACTERS_MAX
"""A longer line has too many cells, or one that is too long."""
_OLD_END: Final = "\x1a"
"""What programs of DOS write behind the last line."""


def open_text(path: Path, choice: Choice) -> OpenedTable:
    """A file with separators.

    Raises:
        UnreadableTable: it is no table.
    """
    encoding = _encoding(path, choice.chosen.encoding)
    csv.field_size_limit(CELL_CHARACTERS_MAX)
    file = choice.files.enter_context(_opened(path, encoding))
    lines = _lines(file)
    first = [*islice(lines, SAMPLE_ROWS)]
    named = separator_named(first[0]) if first else None
    if named is not None:
        first.pop(0)
    separator = choice.chosen.separator or named
    if separator is None:
        # The last line may be the middle of a quoted cell; one of many does not matter.
        separator = recognise_separator(first, choice.plan)
    rows = sample_rows(split(chain(first, lines), separator))
    sample = [*islice(rows, SAMPLE_ROWS)]
    table = recognise_table(
        sample,
        choice.plan,
        has_header=choice.chosen.has_header,
        number_column=choice.chosen.number_column,
    )
    recognised = Recognised(
        encoding=encoding.name,
        separator=separator,
        sheet=None,
        sheets=(),
        has_header=table.has_header,
        columns=table.columns,
        number_column=table.number_column,
    )
    return OpenedTable(recognised, chain(sample[table.first_row :], rows))


def open_numbers(path: Path, choice: Choice) -> OpenedTable:
    """Pasted lines: numbers alone, several on a line too, or a table.

    Raises:
        UnreadableTable: there is nothing, or it is no table.
    """
    numbers = numbers_of(path.read_text(encoding="utf-8-sig"))
    if numbers is None or choice.chosen.number_column:
        return open_text(path, choice)
    recognised = Recognised(
        encoding=UTF_8,
        separator=None,
        sheet=None,
        sheets=(),
        has_header=False,
        columns=column_names((), 1),
        number_column=0,
    )
    rows = (SampleRow(row, [cell], 1) for row, cell in enumerate(numbers, start=1))
    return OpenedTable(recognised, rows)


def _encoding(path: Path, chosen: str | None) -> FoundEncoding:
    evidence = EncodingEvidence()
    with path.open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            evidence.feed(piece)
    return evidence.encoding(chosen)


def _opened(path: Path, encoding: FoundEncoding) -> TextIO:
    return io.TextIOWrapper(path.open("rb"), encoding.codec, newline="")


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a text.

    Raises:
        UnreadableTable: it has characters that cannot be read, or a line without an end.
    """
    try:
        while line := file.readline(LINE_CHARACTERS_MAX):
            if "\0" in line:
                raise UnreadableTable(TableFault.NUL_CHARACTERS)
            if len(line) == LINE_CHARACTERS_MAX:
                many = max(map(line.count, "\t;|,")) >= COLUMNS_MAX
                columns, cell = TableFault.TOO_MANY_COLUMNS, TableFault.CELL_TOO_LONG
                raise UnreadableTable(columns if many else cell)
            if line != _OLD_END:
                yield line
    except UnicodeError:
        raise UnreadableTable(TableFault.BROKEN_ENCODING) from None
