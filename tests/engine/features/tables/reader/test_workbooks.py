"""Workbooks as LibreOffice, Excel and Google Sheets write them, and what is none."""

import io
import zipfile
from datetime import date, datetime, time
from pathlib import Path

import openpyxl
import pytest

from risala.engine.features.tables.reader import workbooks
from risala.engine.features.tables.records import CELL_CHARACTERS_MAX, COLUMNS_MAX
from risala.engine.features.tables.rules import recognising
from risala.engine.features.tables.rules.encodings import ENCRYPTED, OLE
from risala.engine.features.tables.rules.faults import TableFault

FILES = Path(__file__).parent / "files"
NUMBERS = ["+22222123456", "+22233123456", "+22244123456"]
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def workbook(*rows, **sheets):
    """A workbook of openpyxl, whose texts lie in their cells."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for name, more in sheets.items():
        sheet = book.create_sheet(name)
        for row in more:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def changed(octets, **parts):
    """A workbook with other parts, by the ends of their names; None: without it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(octets)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for info in old.infolist():
            key = info.filename.rpartition("/")[2].partition(".")[0]
            content = parts.get(key, old.read(info))
            if content is not None:
                new.writestr(info.filename, content)
        for name, content in parts.items():
            if "/" in name:
                new.writestr(name, content)
    return out.getvalue()


def sheet(data, before=""):
    head = f'<?xml version="1.0"?>{before}<worksheet xmlns="{MAIN}"><sheetData>'
    return f"{head}{data}</sheetData></worksheet>"


def test_a_french_workbook_of_libreoffice(read):
    found = read(FILES / "ecole.xlsx")
    assert found.recognised["encoding"] == "xlsx"
    assert found.recognised["sheet"] == "ecole"
    assert found.recognised["sheets"] == ("ecole",)
    assert found.recognised["columns"] == ("Nom", "Prénom", "Téléphone", "Classe", "Frais")
    assert found.cells[0] == ["Bâ", "Élodie", "22 12 34 56", "6e A", "1500,50"]
    assert found.cells[2] == ["N’Diaye", "Aïcha, fille", "44123456", "6e A"]
    assert found.numbers == NUMBERS


def test_an_arabic_workbook_of_libreoffice(read):
    found = read(FILES / "madrasa.xlsx")
    assert found.recognised["columns"] == ("الاسم", "رقم الهاتف", "القسم")
    assert found.recognised["number_column"] == 1
    assert found.cells[1][0] == "أمينة بنت سيدي"
    assert found.numbers == NUMBERS


def test_sheets_and_headings_are_called_as_any_name_is(read):
    rows = [["Téléphone", "N\u202eom\u200b", "می\u200cخ"], ["22123456", "a", "b"]]
    book = workbook(**dict.fromkeys(("Pa\u202erents", "Parents\u200b", "\u200b"), rows))
    found = read(book).recognised
    assert found["columns"] == ("Téléphone", "Nom", "می\u200cخ")
    assert found["sheet"] == "Parents"
    assert found["sheets"] == ("Sheet", "Parents", "Parents 2", "4")
    for asked in ("Parents 2", "4", "Parents\u200b", "Pa\u202erents"):
        assert read(book, sheet=asked).numbers == ["+22222123456"]


def test_values_of_formulas_dates_and_numbers(read):
    found = read(FILES / "formules.xlsx")
    assert found.recognised["sheets"] == ("Parents", "Vide")
    assert found.cells == [
        ["Sidi", "22123456", "1500.5", "2", "3001", "27/11/2026", "08:30", "1", "0.3"],
        ["Aïcha", "22233123456", "900", "3", "2700", "27/11/2026 18:05", "18:00", "0", "12"],
        ["Bâ", "44123456", "900", "3", "", "02/01/2026", "07:00", "0"],
    ]
    assert found.numbers == NUMBERS


def test_texts_in_their_cells(read):
    rows = (["Nom", "Tél", "Le", "À"], ["Bâ\nSidi", 22123456.0, date(2026, 1, 2), time(8)])
    found = read(workbook(*rows, ["Ly", "33123456", datetime(2026, 1, 2, 3, 4), True]))
    assert found.cells == [
        ["Bâ\nSidi", "22123456", "02/01/2026", "08:00"],
        ["Ly", "33123456", "02/01/2026 03:04", "1"],
    ]


def test_a_text_that_begins_like_a_formula_stays_one(read):
    book = workbook(["Tél", "Nom"], ["22123456", "x"])
    data = sheet(
        '<row r="1"><c r="A1" t="inlineStr"><is><t>22123456</t></is></c>'
        '<c r="B1" t="inlineStr"><is><r><t>=1</t></r><r><t xml:space="preserve"> +1</t></r></is>'
        "</c></row>"
    )
    assert read(changed(book, sheet1=data)).cells == [["22123456", "=1 +1"]]


def test_the_first_sheet_with_numbers_is_read(read):
    book = workbook(["Lisez-moi"], Parents=[["Tél"], [22123456]], Maîtres=[["Tél"], [33123456]])
    found = read(book)
    assert found.recognised["sheet"] == "Parents"
    assert found.recognised["sheets"] == ("Sheet", "Parents", "Maîtres")
    assert read(book, sheet="Maîtres").numbers == ["+22233123456"]


def test_rows_keep_their_numbers(read):
    book = workbook(["Tél"], [], [22123456], [], [], [33123456])
    assert [each.row for each in read(book).rows] == [3, 6]


def test_what_stands_beside_the_table_is_left_out(read):
    rows = [["Tél", "Nom"], *([22000000 + each, "x"] for each in range(300))]
    rows[250].append("à vérifier")
    assert read(workbook(*rows)).cells[249] == ["22000249", "x"]


def test_rows_without_references(read):
    """As some libraries write them."""
    data = sheet("<row><c><v>22123456</v></c><c/></row><row><c><v>33123456</v></c></row>")
    found = read(changed(workbook(["x"]), sheet1=data))
    assert [(each.row, each.number) for each in found.rows] == [
        (1, "+22222123456"),
        (2, "+22233123456"),
    ]


def test_characters_that_xml_does_not_have(read):
    data = sheet(
        '<row><c><v>22123456</v></c><c t="inlineStr"><is><t>a_x000D_\nb_x005F_x</t></is></c></row>'
    )
    assert read(changed(workbook(["x"]), sheet1=data)).cells == [["22123456", "a\nb_x"]]


@pytest.mark.parametrize(
    "cell", ["<f>A1*2</f>", "<f>A1*2</f><v></v>", "<f>A1*2</f><v/>", '<f t="shared" si="0"/>']
)
def test_a_formula_without_its_value(refused, cell):
    data = sheet(f'<row r="1"><c r="A1"><v>22123456</v></c><c r="B1">{cell}</c></row>')
    assert refused(changed(workbook(["x"]), sheet1=data)) is TableFault.FORMULA_WITHOUT_VALUE


def test_a_formula_of_openpyxl_has_no_value(refused):
    book = workbook(["Tél", "Somme"], [22123456, "=1+1"])
    assert refused(book) is TableFault.FORMULA_WITHOUT_VALUE


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([], TableFault.EMPTY_FILE),
        ([["Name", "Phone"], ["Nom", "Tél"], ["Bâ", 22123456]], TableFault.TWO_HEADINGS),
        ([["Nom", "Tél"]], TableFault.NO_ROWS),
        ([[22123456, "x" * (CELL_CHARACTERS_MAX + 1)]], TableFault.CELL_TOO_LONG),
        ([[22123456, *"x" * COLUMNS_MAX]], TableFault.TOO_MANY_COLUMNS),
    ],
)
def test_what_is_no_table(refused, rows, fault):
    assert refused(workbook(*rows)) is fault


def test_columns_at_the_far_end(refused, read):
    cells = '<c r="A1"><v>22123456</v></c><c r="XFD1" s="0"/>'
    assert read(changed(workbook(["x"]), sheet1=sheet(f"<row>{cells}</row>"))).cells
    data = sheet(f'<row>{cells}<c r="XFD1"><v>1</v></c></row>')
    assert refused(changed(workbook(["x"]), sheet1=data)) is TableFault.TOO_MANY_COLUMNS


@pytest.mark.parametrize(
    "number", ["1e300", "-1e300", "9e999", "nan", "0", "-5", "1048577", "1", ""]
)
def test_rows_have_numbers_that_sheets_have(refused, number):
    """A number of 64 bits or more would break what stores rows, for every organization."""
    row, cell = '<row r="1">', "<c><v>22123456</v></c></row>"
    data = sheet(f'{row}{cell}<row r="{number}">{cell}')
    assert refused(changed(workbook(["x"]), sheet1=data)) is TableFault.BROKEN_WORKBOOK


def test_the_last_row_of_a_sheet(read):
    cell = "<c><v>22123456</v></c></row>"
    data = sheet(f'<row r="7.0">{cell}<row>{cell}<row r="{workbooks.ROW_NUMBER_MAX}">{cell}')
    assert [row for row, *_ in read(changed(workbook(["x"]), sheet1=data)).rows] == [
        *(7, 8),
        workbooks.ROW_NUMBER_MAX,
    ]


def test_shared_texts_are_bounded_where_a_cell_has_them(refused):
    long = f'<sst xmlns="{MAIN}"><si><t>{"x" * 2_000_000}</t></si></sst>'
    book = FILES / "ecole.xlsx"
    assert refused(changed(book.read_bytes(), sharedStrings=long)) is TableFault.CELL_TOO_LONG


def test_other_workbooks(refused):
    assert refused(FILES / "ecole.ods") is TableFault.OTHER_WORKBOOK
    assert refused(FILES / "ecole.xls") is TableFault.OLD_WORKBOOK
    protected = OLE + bytes(2_000_000 - 10) + ENCRYPTED + bytes(100)
    assert refused(protected) is TableFault.PROTECTED_WORKBOOK


def archive(**parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in parts.items():
            new.writestr(name.replace("__", "/"), content)
    return out.getvalue()


def test_archives_that_are_no_workbook(refused):
    assert refused(archive(list="22123456")) is TableFault.NOT_A_TABLE
    writer = archive(mimetype="application/vnd.oasis.opendocument.text")
    assert refused(writer) is TableFault.NOT_A_TABLE
    assert refused(archive(Index__Document="x", **{"Index/Document.iwa": "x"})) is (
        TableFault.OTHER_WORKBOOK
    )
    assert refused(b"PK\x03\x04" + bytes(100)) is TableFault.BROKEN_WORKBOOK


@pytest.mark.parametrize("part", ["sheet1", "workbook", "styles"])
def test_broken_parts(refused, part):
    book = workbook(["Tél"], [22123456])
    assert refused(changed(book, **{part: "<x"})) is TableFault.BROKEN_WORKBOOK
    if part != "styles":
        assert refused(changed(book, **{part: None})) is TableFault.BROKEN_WORKBOOK


def test_a_workbook_that_is_cut(refused):
    book = workbook(["Tél"], *([22000000 + each] for each in range(300)))
    assert refused(book[: len(book) // 2]) is TableFault.BROKEN_WORKBOOK
    at = book.index(b"xl/worksheets/sheet1.xml") + 60
    assert refused(book[:at] + b"\xff" * 40 + book[at + 40 :]) is TableFault.BROKEN_WORKBOOK


def test_an_unknown_sheet(refused):
    assert refused(workbook(["Tél"], [22123456]), sheet="Parents") is TableFault.UNKNOWN_SHEET


def test_a_workbook_that_unpacks_to_too_much(refused, monkeypatch):
    monkeypatch.setattr(workbooks, "EXPANDED_MAX_BYTES", 1_000_000)
    book = workbook(["Tél"], [22123456])
    assert refused(changed(book, **{"xl/media/x": bytes(1_000_000)})) is TableFault.TOO_BIG


def test_entities_are_not_expanded(refused):
    many = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    before = f'<!DOCTYPE x [<!ENTITY e0 "xxxxxxxxxx">{many}]>'
    data = sheet('<row><c t="inlineStr"><is><t>&e9;</t></is></c></row>', before)
    assert refused(changed(workbook(["x"]), sheet1=data)) in (
        TableFault.BROKEN_WORKBOOK,
        TableFault.TOO_BIG,
    )


def test_no_other_file_is_read(refused):
    before = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
    data = sheet('<row><c t="inlineStr"><is><t>&e;</t></is></c></row>', before)
    assert refused(changed(workbook(["x"]), sheet1=data)) is TableFault.BROKEN_WORKBOOK


HIDDEN_ROW = '<row hidden="1"><c t="inlineStr"><is><t>x</t></is></c></row>'


@pytest.mark.parametrize("passed", ["<row/>", HIDDEN_ROW])
def test_rows_that_are_passed_over_are_bounded(read, refused, monkeypatch, passed):
    monkeypatch.setattr(recognising, "EMPTY_ROWS_MAX", 3)
    people = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{NUMBERS[0]}</t></is></c></row>'
    book = workbook(("Tel",), (NUMBERS[0],))
    assert len(read(changed(book, sheet1=sheet(people + passed * 3))).rows) == 1
    too_many = changed(book, sheet1=sheet(people + passed * 4))
    assert refused(too_many) is TableFault.TOO_MANY_EMPTY_ROWS


def test_empty_rows_of_all_sheets_count_together(refused, monkeypatch):
    monkeypatch.setattr(recognising, "EMPTY_ROWS_MAX", 3)
    book = workbook(("Tel",), Second=(), Third=((NUMBERS[0],),))
    empty = sheet("<row/>" * 2)
    octets = changed(book, sheet1=empty, sheet2=empty)
    assert refused(octets) is TableFault.TOO_MANY_EMPTY_ROWS
