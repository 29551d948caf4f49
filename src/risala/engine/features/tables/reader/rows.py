"""Checks the rows of a table and writes what was found, a line of JSON for each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from risala.engine.features.tables.reader.opened import Choice, OpenedTable
from risala.engine.features.tables.reader.text_files import open_numbers, open_text
from risala.engine.features.tables.records import ROWS_MAX, Chosen, Recognised, cells_text
from risala.engine.features.tables.rules.checking import row_checker
from risala.engine.features.tables.rules.encodings import UTF_8, is_workbook
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable
from risala.engine.features.tables.rules.recognising import SampleRow
from risala.sms.numbering.plan import NumberingPlan, plan_of

HEAD_BYTES: Final = 512
"""How many bytes of a file tell its kind."""
PIECE_BYTES: Final = 1_000_000

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def read_table(request: dict[str, Any]) -> dict[str, Any]:
    """Read a file, check its rows and write them; what was recognised, and how many rows there are.

    Args:
        request: a ``ReadRequest`` as JSON has it.

    Raises:
        UnreadableTable: it is no table of people.
    """
    plan = plan_of(tuple(request["countries"]))
    with ExitStack() as files:
        choice = Choice(Chosen(**request["chosen"]), plan, files)
        return _checked(_opened(Path(request["path"]), request, choice), request, plan)


def _checked(table: OpenedTable, request: dict[str, Any], plan: NumberingPlan) -> dict[str, Any]:
    """Check the rows of a table and write them."""
    rows_path = Path(request["rows_path"])
    recognised = table.recognised
    checker = row_checker(
        recognised.columns,
        recognised.number_column,
        request["text"],
        plan,
        request["smart_encoding"],
    )
    seen: set[str] = set()
    count = 0
    part = rows_path.with_name(f"{rows_path.name}.part")
    descriptor = os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="replace") as out:
        for row in table.rows:
            count += 1
            if count > ROWS_MAX:
                raise UnreadableTable(TableFault.TOO_MANY_ROWS)
            checked = checker.check(row.row, row.cells, seen)
            cells = cells_text(checked.cells)
            line = (
                checked.row,
                cells,
                checked.number,
                checked.fault,
                checked.column,
                checked.segments,
            )
            out.write(_JSON(line) + "\n")
    if not count:
        headed = recognised.has_header
        raise UnreadableTable(TableFault.NO_ROWS if headed else TableFault.EMPTY_FILE)
    # Where the service has died meanwhile, another one may be reading the same file.
    if os.getppid() == request["parent"]:
        part.rename(rows_path)
    hidden = table.hidden
    recognised = replace(
        recognised,
        hidden_rows=hidden.rows,
        hidden_columns=hidden.columns,
        with_hidden=hidden.with_hidden and bool(hidden.rows or hidden.columns),
    )
    return {"recognised": _values(recognised), "rows": count}


def _opened(path: Path, request: dict[str, Any], choice: Choice) -> OpenedTable:
    if request["source"] == "rows":
        return _rows_of_ours(path, tuple(request["columns"]), choice.chosen.number_column or 0)
    if request["source"] == "numbers":
        return open_numbers(path, choice)
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        # A name may lie across two pieces: so each begins with the end of the one before.
        ends = chain([head], iter(lambda: file.read(PIECE_BYTES), b""))
        is_zip = is_workbook(head, _overlapping(ends))
    if is_zip:
        # It takes longest to import, and text files do not need it.
        from risala.engine.features.tables.reader.workbooks import open_workbook

        return open_workbook(path, choice)
    return open_text(path, choice)


def _overlapping(pieces: Iterator[bytes]) -> Iterator[bytes]:
    before = b""
    for piece in pieces:
        yield before + piece
        before = piece[-HEAD_BYTES:]


def _rows_of_ours(path: Path, columns: tuple[str, ...], number_column: int) -> OpenedTable:
    recognised = Recognised(
        encoding=UTF_8,
        separator=None,
        sheet=None,
        sheets=(),
        has_header=True,
        columns=columns,
        number_column=number_column,
    )
    return OpenedTable(recognised, _lines(path))


def _lines(path: Path) -> Iterator[SampleRow]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row, cells = json.loads(line)
            yield SampleRow(row, cells, len(cells))


def _values(recognised: Recognised) -> dict[str, Any]:
    return {name: getattr(recognised, name) for name in Recognised.__dataclass_fields__}
