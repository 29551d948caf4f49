"""Reports as workbooks: each cell is a text."""

import json

import openpyxl
import pytest

from risala.engine.features.tables.reader.workbook_writing import CELL_MAX, write_workbook

HEADING = ["row", "name", "الحالة"]


def written(tmp_path, *rows):
    lines = tmp_path / "cells"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "report.xlsx"
    assert write_workbook(lines, out) == len(rows)
    assert {*tmp_path.iterdir()} == {lines, out}
    return openpyxl.load_workbook(out).active


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+22222123456", "-1", "@SUM(A1)", '=HYPERLINK("http://x")', "#N/A", "1", "أحمد"],
)
def test_each_cell_is_a_text(tmp_path, text):
    cell = written(tmp_path, HEADING, ["1", text, None])["B2"]
    assert (cell.value, cell.data_type) == (text, "s")
    assert cell.quotePrefix == (text[0] in "=+-@")


def test_headings_and_empty_cells(tmp_path):
    sheet = written(tmp_path, HEADING, ["1", "", None], ["2"])
    assert [*sheet.values] == [tuple(HEADING), ("1", None, None), ("2", None, None)]


def test_what_a_workbook_cannot_have_is_replaced(tmp_path):
    sheet = written(tmp_path, ["a\x00b\x1bc\ud800d\ufffee", "x" * 40_000, "a\nb\tc"])
    assert [cell.value for cell in sheet[1]] == ["a�b�c�d�e", "x" * CELL_MAX, "a\nb\tc"]
