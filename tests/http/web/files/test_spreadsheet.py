"""CSV: what is written comes back, and no cell is a formula however the file is opened."""

import csv
import io
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.http.web.files.spreadsheet import COMMA, FORMS, SEMICOLON, csv_line, harmless

NASTY = st.text(alphabet="=+-@＝,;\t\r\n\"' a1|\u200f\ufeff\x00", max_size=12)


def read(text: str, separator: str = ",") -> list[list[str]]:
    return [*csv.reader(io.StringIO(text, newline=""), delimiter=separator)]


def is_formula(cell: str) -> bool:
    return cell.lstrip(" \t\r\n\x00\u200f\ufeff").startswith(tuple("=+-@＝＋－＠"))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("+22236123456", "'+22236123456"),
        ("=1+1", "'=1+1"),
        ("-7", "'-7"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t'=1"),
        ("＝1", "'＝1"),
        ("1+1", "1+1"),
        ("a, b; c", "a, b; c"),
        ("a; =1", "a;' =1"),
        ("a\n- b", "a\n'- b"),
        ('a;"=1', "a;'\"=1"),
        ("مرحبا", "مرحبا"),
        ("", ""),
    ],
)
def test_what_would_be_a_formula_gets_an_apostrophe(text, written):
    assert harmless(text) == written


@given(st.lists(NASTY, min_size=1, max_size=4), st.sampled_from([*FORMS.values()]))
def test_no_cell_is_a_formula_whatever_parts_them(cells, form):
    line = csv_line(cells, form)
    assert read(line, form.separator) == [[harmless(cell) for cell in cells]]
    for separator in ",;\t|":
        assert not [each for row in read(line, separator) for each in row if is_formula(each)]


def test_numbers_are_numbers_in_the_files_own_form():
    cells = [-3, Decimal("-71.50"), None, "x"]
    assert csv_line(cells, COMMA) == '"-3","-71.50","","x"\r\n'
    assert csv_line(cells, SEMICOLON) == '"-3";"-71,50";"";"x"\r\n'
