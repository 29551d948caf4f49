"""What a sheet shows is what is read: hidden cells, titles, the strict form of workbooks."""

import io
import zipfile
from datetime import date, datetime

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.table import Table

from risala.engine.features.tables.reader.strict import _LONGEST, _TRANSITIONAL, _Transitional
from risala.engine.features.tables.rules.faults import TableFault

PEOPLE = [["Nom", "Tél", "Classe"], ["Bâ", 22123456, "5e"], ["Sow", 33123456, "6e"]]
HEADINGS = ("Nom", "Tél", "Classe")
NUMBERS = ["+22222123456", "+22233123456"]


def octets_of(book):
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def book_of(*rows):
    book = openpyxl.Workbook()
    for row in rows or PEOPLE:
        book.active.append(row)
    return book


def hide_row(sheet):
    sheet.row_dimensions[2].hidden = True


def filtered(sheet):
    sheet.auto_filter.ref = "A1:C3"
    sheet.auto_filter.add_filter_column(2, ["6e"])
    sheet.row_dimensions[2].hidden = True


def grouped(sheet):
    sheet.row_dimensions.group(2, 2, hidden=True)


@pytest.mark.parametrize("hide", [hide_row, filtered, grouped])
def test_rows_that_are_not_shown_are_left_out_and_counted(read, hide):
    book = book_of()
    hide(book.active)
    found = read(octets_of(book))
    assert found.numbers == NUMBERS[1:]
    assert [each.row for each in found.rows] == [3]
    assert (found.recognised["hidden_rows"], found.recognised["with_hidden"]) == (1, False)
    found = read(octets_of(book), with_hidden=True)
    assert found.numbers == NUMBERS
    assert (found.recognised["hidden_rows"], found.recognised["with_hidden"]) == (1, True)


@pytest.mark.parametrize(
    ("hidden", "columns", "count"),
    [
        ({"A": "A"}, ("Tél", "Classe"), 1),
        ({"C": "C"}, ("Nom", "Tél"), 1),
        ({"A": "A", "C": "C"}, ("Tél",), 2),
        ({"C": "XFD"}, ("Nom", "Tél"), 1),
        ({"D": "F"}, HEADINGS, 0),
    ],
)
def test_columns_that_are_not_shown_are_left_out_and_counted(read, hidden, columns, count):
    book = book_of()
    for first, last in hidden.items():
        book.active.column_dimensions.group(first, last, hidden=True)
    found = read(octets_of(book))
    assert (found.recognised["columns"], found.numbers) == (columns, NUMBERS)
    assert found.recognised["hidden_columns"] == count
    found = read(octets_of(book), with_hidden=True)
    assert (found.recognised["columns"], found.numbers) == (HEADINGS, NUMBERS)


def test_a_hidden_column_of_phone_numbers_is_not_written_to(read):
    book = book_of(["Nom", "Tél", "Tél 2"], ["Bâ", 22123456, 44123456])
    book.active.column_dimensions["B"].hidden = True
    assert read(octets_of(book)).numbers == ["+22244123456"]


def test_hidden_rows_without_anything_are_not_counted(read):
    book = book_of(*PEOPLE, [], ["Ly", 44123456])
    book.active.row_dimensions[4].hidden = True
    found = read(octets_of(book))
    assert (len(found.numbers), found.recognised["hidden_rows"]) == (3, 0)


def test_all_rows_are_counted_wherever_they_are(read):
    book = book_of(*PEOPLE[:1], *(["x", 22000000 + n] for n in range(600)))
    for row in (5, 300, 601):
        book.active.row_dimensions[row].hidden = True
    found = read(octets_of(book))
    assert (len(found.numbers), found.recognised["hidden_rows"]) == (597, 3)


def test_people_who_are_all_hidden(refused):
    book = book_of()
    for row in (2, 3):
        book.active.row_dimensions[row].hidden = True
    assert refused(octets_of(book)) is TableFault.ALL_HIDDEN
    book = book_of()
    book.active.column_dimensions["B"].hidden = True
    assert refused(octets_of(book)) is TableFault.ALL_HIDDEN
    book = openpyxl.Workbook()
    more = book.create_sheet("People")
    for row in PEOPLE:
        more.append(row)
    more.sheet_state = "hidden"
    assert refused(octets_of(book)) is TableFault.ALL_HIDDEN


@pytest.mark.parametrize(
    ("titles", "merged"),
    [
        ([["Parents de CM1"]], ["A1:C1"]),
        ([["Année 2024-2025"]], ["A1:C1"]),
        ([[2024]], ["A1:C1"]),
        ([[None, 20241128]], ["B1:C1"]),
        ([["École"], ["Total", 1500]], ["A1:C1", "B2:C2"]),
        ([["École"], [], ["Classe de CM1"]], ["A1:C2"]),
        ([["Élève", None, None], [None, "Contact"]], ["A1:B1"]),
        ([["sep=;"]], []),
        ([["Tél"]], ["A1:C1"]),
        ([[0.5, "Liste"]], []),
        ([["École Nour, tél. 36123401"]], ["A1:C1"]),
        ([["قائمة الأولياء ٢٠٢٤"]], ["A1:C1"]),
        ([["Date", date(2026, 11, 28)]], []),
        ([["Total", 2], ["Liste"]], ["A2:C2"]),
        ([[], ["École"], [None, "Année", "2024-2025"], []], ["A1:C1", "A2:C2"]),
    ],
)
def test_titles_above_the_headings(read, titles, merged):
    book = book_of(*titles, *PEOPLE)
    for area in merged:
        book.active.merge_cells(area)
    found = read(octets_of(book))
    assert (found.recognised["columns"], found.numbers) == (HEADINGS, NUMBERS)
    again = read(octets_of(book), has_header=True, number_column=1)
    assert again.cells == found.cells


def replaced(octets, others):
    """A workbook with other octets in its parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(octets)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for name in old.namelist():
            content = old.read(name)
            for one, other in others.items():
                content = content.replace(one, other)
            new.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize(
    "said", [b'ht="0" customHeight="1"', b'hidden="true"', b'hidden="1"', b'ht="0.0"']
)
def test_a_row_that_is_hidden_in_any_of_the_ways_to_say_it(read, said):
    octets = replaced(octets_of(book_of()), {b'<row r="2"': b'<row r="2" ' + said})
    assert read(octets).numbers == NUMBERS[1:]


@pytest.mark.parametrize("said", [b'hidden="0"', b'ht="15"', b'hidden="false"', b'ht="x"'])
def test_a_row_that_is_shown(read, said):
    octets = replaced(octets_of(book_of()), {b'<row r="2"': b'<row r="2" ' + said})
    assert read(octets).numbers == NUMBERS


def strict(octets):
    """As Excel saves a "Strict Open XML Spreadsheet"."""
    return replaced(octets, {usual: namespace for namespace, usual in _TRANSITIONAL.items()})


@pytest.mark.parametrize("name", ["ecole", "madrasa", "formules"])
def test_a_strict_workbook_is_read_as_the_usual_one(read, name, request):
    path = request.path.parent / "files" / f"{name}.xlsx"
    usual = read(path)
    octets = strict(path.read_bytes())
    assert b"purl.oclc.org" in zipfile.ZipFile(io.BytesIO(octets)).read("xl/workbook.xml")
    assert read(octets) == usual


def rich(sheet):
    sheet["A2"] = CellRichText(TextBlock(InlineFont(b=True), "B"), "â")


def dated(sheet):
    for cell, value in (("C1", "Né"), ("C2", date(2010, 11, 21)), ("C3", datetime(2010, 1, 2, 8))):
        sheet[cell] = value


def of_kinds(sheet):
    for cell, value in (("C2", True), ("C3", "#N/A"), ("B2", 22123456.0), ("B3", "33 12 34 56")):
        sheet[cell] = value


def commented(sheet):
    sheet["B2"].comment = Comment("seule", "x")
    sheet["B3"].hyperlink = "tel:33123456"
    sheet["A1"].font = Font(bold=True)


def formatted(sheet):
    sheet["B2"].number_format = "00 00 00 00"
    sheet.freeze_panes = "A2"
    sheet.column_dimensions["B"].width = 40


def in_a_table(sheet):
    sheet.add_table(Table(displayName="Parents", ref="A1:C3"))


def titled(sheet):
    sheet.insert_rows(1, 2)
    sheet["A1"] = "Parents de CM1, 2024-2025"
    sheet.merge_cells("A1:C2")


def beside_another(sheet):
    sheet.parent.create_sheet("Notes").append(["x"])
    sheet.parent.defined_names["Liste"] = DefinedName("Liste", attr_text="Sheet!$A$1:$C$3")


def in_arabic(sheet):
    for cell, value in (("A1", "الاسم"), ("B1", "الهاتف"), ("A2", "سيدي"), ("B2", "٢٢١٢٣٤٥٦")):
        sheet[cell] = value
    sheet.sheet_view.rightToLeft = True


def merged_down(sheet):
    sheet.merge_cells("C2:C3")


def column_hidden(sheet):
    sheet.column_dimensions["C"].hidden = True


@pytest.mark.parametrize(
    "change",
    [
        *(rich, dated, of_kinds, commented, formatted, in_a_table, titled, beside_another),
        *(in_arabic, merged_down, hide_row, filtered, grouped, column_hidden),
    ],
)
def test_a_strict_workbook_with_all_that_people_put_into_one(read, change):
    book = book_of()
    change(book.active)
    usual = read(octets_of(book))
    assert {*usual.numbers} <= {*NUMBERS}
    octets = strict(octets_of(book))
    assert octets != octets_of(book)
    assert read(octets) == usual


@pytest.mark.parametrize("namespace", [*_TRANSITIONAL])
@pytest.mark.parametrize("size", [1, 2, _LONGEST - 1, _LONGEST, 65_536])
def test_a_namespace_across_two_pieces(namespace, size):
    class Slow(io.BytesIO):
        def read(self, _=-1):
            return super().read(size)

    part = _Transitional(Slow(b"<a xmlns='" + namespace + b"'/>" * 3))
    assert io.BufferedReader(part, 16).read() == (
        b"<a xmlns='" + _TRANSITIONAL[namespace] + b"'/>" * 3
    )
