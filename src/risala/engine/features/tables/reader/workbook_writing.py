"""Writes a report as a workbook, row by row, by openpyxl. Each cell is a text, never a formula."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Final, Protocol

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

CELL_MAX: Final = 32_767
"""Characters that a cell of a workbook may have (ECMA-376)."""

_strange: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]").sub
"""Replaces what XML does not have."""
_BEGINS: Final = ("=", "+", "-", "@")


def write_workbook(cells_path: Path, out_path: Path) -> int:
    """Write lines of JSON, each a list of texts, as the rows of a workbook; how many they are."""
    # openpyxl keeps the sheet that it writes in a temporary file: beside the workbook, where there
    # is room for it.
    usual, tempfile.tempdir = tempfile.tempdir, str(out_path.parent)
    try:
        return _write(cells_path, out_path)
    finally:
        tempfile.tempdir = usual


def _write(cells_path: Path, out_path: Path) -> int:
    workbook = Workbook(write_only=True)
    sheet = workbook.create_sheet()
    count = 0
    with cells_path.open(encoding="utf-8") as lines:
        for line in lines:
            sheet.append([_cell(WriteOnlyCell(sheet), each) for each in json.loads(line)])
            count += 1
    workbook.save(out_path)
    return count


class _Cell(Protocol):
    """What is set of openpyxl's cell."""

    _value: str
    """The cell's value, set directly: setting ``value`` would take ``=1`` for a formula."""
    data_type: str
    quotePrefix: bool


def _cell(cell: _Cell, text: str | None) -> _Cell:
    written = _strange("\ufffd", text or "")[:CELL_MAX]
    if written:
        cell._value, cell.data_type = written, "s"
        # Then it stays a text, too, when somebody edits it.
        if written.startswith(_BEGINS):
            cell.quotePrefix = True
    return cell
