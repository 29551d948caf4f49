"""Text files as LibreOffice, Excel and Google Sheets write them, and what is no table."""

from pathlib import Path

import pytest

from risala.engine.features.tables.reader import rows
from risala.engine.features.tables.reader.text_files import LINE_CHARACTERS_MAX
from risala.engine.features.tables.records import CELL_CHARACTERS_MAX, RowFault
from risala.engine.features.tables.rules import recognising
from risala.engine.features.tables.rules.faults import TableFault

FILES = Path(__file__).parent / "files"
FRENCH = [
    ["Bâ", "Élodie", "22 12 34 56", "6e A", "1500,50"],
    ["Ould Ahmed", "Sidi", "+222 33 12 34 56", "5e B", "900"],
    ["N’Diaye", "Aïcha, fille", "44123456", "6e A"],
]
NUMBERS = ["+22222123456", "+22233123456", "+22244123456"]
ARABIC = [
    ["محمد ولد أحمد", "السادس"],
    ["أمينة بنت سيدي", "الخامس"],
    ["فاطمة Bâ", "السادس"],
]
FRENCH_COLUMNS = ("Nom", "Prénom", "Téléphone", "Classe", "Frais")
ARABIC_COLUMNS = ("الاسم", "رقم الهاتف", "القسم")


@pytest.mark.parametrize(
    ("name", "encoding", "separator"),
    [
        ("ecole-utf8.csv", "utf-8", ","),
        ("ecole-1252.csv", "windows-1252", ";"),
        ("ecole-utf16.csv", "utf-16", "\t"),
    ],
)
def test_french_lists_of_libreoffice(read, name, encoding, separator):
    found = read(FILES / name)
    assert found.recognised["encoding"] == encoding
    assert found.recognised["separator"] == separator
    assert found.recognised["has_header"]
    assert found.recognised["columns"] == FRENCH_COLUMNS
    assert found.recognised["number_column"] == 2
    assert found.cells == FRENCH
    assert found.numbers == NUMBERS
    assert [each.row for each in found.rows] == [2, 3, 4]


@pytest.mark.parametrize(
    ("name", "encoding"), [("madrasa-utf8.csv", "utf-8"), ("madrasa-1256.csv", "windows-1256")]
)
def test_arabic_lists_of_libreoffice(read, name, encoding):
    found = read(FILES / name)
    assert found.recognised["encoding"] == encoding
    assert found.recognised["separator"] == ";"
    assert found.recognised["columns"] == ARABIC_COLUMNS
    assert [[each[0], each[2]] for each in found.cells] == ARABIC
    assert found.numbers == NUMBERS


def written(rows_, separator, end="\r\n"):
    """As Excel quotes: only where it must."""
    must = ('"', separator, "\n")
    return end.join(
        separator.join(
            '"' + each.replace('"', '""') + '"' if any(one in each for one in must) else each
            for each in row
        )
        for row in rows_
    )


@pytest.mark.parametrize(
    ("separator", "codec", "encoding"),
    [
        # Excel with French settings: "CSV", "CSV UTF-8" and "Texte Unicode".
        (";", "cp1252", "windows-1252"),
        (";", "utf-8-sig", "utf-8"),
        ("\t", "utf-16", "utf-16"),
        # Google Sheets.
        (",", "utf-8", "utf-8"),
    ],
)
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
def test_french_lists_of_other_programs(read, separator, codec, encoding, end):
    table = [FRENCH_COLUMNS, *FRENCH]
    found = read((written(table, separator, end) + end).encode(codec))
    assert found.recognised["encoding"] == encoding
    assert found.recognised["separator"] == separator
    assert found.recognised["columns"] == FRENCH_COLUMNS
    assert (found.cells, found.numbers) == (FRENCH, NUMBERS)


@pytest.mark.parametrize(
    ("separator", "codec", "encoding"),
    [
        (";", "cp1256", "windows-1256"),
        (",", "cp1256", "windows-1256"),
        (";", "utf-8-sig", "utf-8"),
        ("\t", "utf-16", "utf-16"),
        (",", "utf-8", "utf-8"),
    ],
)
def test_arabic_lists_of_other_programs(read, separator, codec, encoding):
    numbers = ["22123456", "33123456", "22244123456"]
    table = [
        ARABIC_COLUMNS,
        *([a, n, b] for (a, b), n in zip(ARABIC, numbers, strict=True)),
    ]
    found = read(written(table, separator).encode(codec))
    assert found.recognised["encoding"] == encoding
    assert found.recognised["separator"] == separator
    assert found.recognised["columns"] == ARABIC_COLUMNS
    assert [[each[0], each[2]] for each in found.cells] == ARABIC
    assert found.numbers == NUMBERS


SEVERAL = [["Zoé", "22123456"], ["Ève", "33123456"]]


@pytest.mark.parametrize(
    ("text", "codec", "recognised"),
    [
        # "CSV (Macintosh)", with each separator, and what stands in its cells.
        ("Prénom;Tél\rZoé;22123456\rÈve;33123456", "mac-roman", ("macintosh", ";")),
        ("Prénom,Tél\rZoé,22123456\rÈve,33123456\r", "mac-roman", ("macintosh", ",")),
        ("Prénom\tTél\rZoé\t22123456\rÈve\t33123456\r", "mac-roman", ("macintosh", "\t")),
        ("sep=;\rPrénom;Tél\rZoé;22123456\rÈve;33123456\r", "mac-roman", ("macintosh", ";")),
        ('"Prénom";"Tél"\r"Zoé";"22123456"\r"Ève";"33123456"', "mac-roman", ("macintosh", ";")),
        ("Prénom;Tél\r\nZoé;22123456\r\nÈve;33123456\r\n", "mac-roman", ("macintosh", ";")),
        ("Liste d’été\rPrénom;Tél\rZoé;22123456\rÈve;33123456", "mac-roman", ("macintosh", ";")),
        # "CSV (MS-DOS)".
        ("Prénom;Tél\r\nZoé;22123456\r\nÈve;33123456\r\n\x1a", "cp850", ("ibm850", ";")),
        ("Prénom,Tél\r\nZoé,22123456\r\nÈve,33123456\r\n", "cp850", ("ibm850", ",")),
        # Line ends of other programs, and several kinds in one file.
        ("Prénom;Tél\rZoé;22123456\rÈve;33123456\r", "utf-8-sig", ("utf-8", ";")),
        ("Prénom\tTél\rZoé\t22123456\rÈve\t33123456", "utf-16", ("utf-16", "\t")),
        ("Prénom;Tél\r\r\nZoé;22123456\r\r\nÈve;33123456\r\r\n", "utf-8", ("utf-8", ";")),
        ("Prénom;Tél\n\rZoé;22123456\n\rÈve;33123456\n\r", "utf-8", ("utf-8", ";")),
        ("Prénom;Tél\rZoé;22123456\nÈve;33123456\r\n", "cp1252", ("windows-1252", ";")),
        ("Prénom;Tél\r\nZoé;22123456\r\nÈve;33123456\r\n\x1a", "cp1252", ("windows-1252", ";")),
        # A separator that is named, with marks, padding and blank lines around it.
        ("sep=;\r\nPrénom;Tél\r\nZoé;22123456\r\nÈve;33123456", "utf-8-sig", ("utf-8", ";")),
        ("sep=\t\r\nPrénom\tTél\r\nZoé\t22123456\r\nÈve\t33123456", "utf-16", ("utf-16", "\t")),
        ("SEP=|;;;\nPrénom|Tél\nZoé|22123456\nÈve|33123456", "cp1252", ("windows-1252", "|")),
        ("sep=^\nPrénom^Tél\nZoé^22123456\nÈve^33123456", "utf-8", ("utf-8", "^")),
        ('"sep=,"\r\n\r\n"Prénom","Tél"\r\nZoé,22123456\r\nÈve,33123456', "utf-8", ("utf-8", ",")),
    ],
)
def test_files_of_old_and_other_programs(read, text, codec, recognised):
    found = read(text.encode(codec))
    assert (found.recognised["encoding"], found.recognised["separator"]) == recognised
    assert (found.recognised["columns"], found.cells) == (("Prénom", "Tél"), SEVERAL)
    assert found.numbers == NUMBERS[:2]


def test_a_line_end_of_a_word_processor_is_none(read):
    found = read("Tél;Mot\n22123456;a\u2028b\x85c\n".encode())
    assert found.cells == [["22123456", "a\u2028b\x85c"]]


def test_a_text_is_checked_for_each_row(read):
    octets = "Nom;Tél;Frais\nBâ;22123456;5\n;33123456;6\nLy;12;7\nSy;22123456;\n".encode()
    found = read(octets, text="{{nom}} {{frais}}")
    assert [each.fault for each in found.rows] == [
        None,
        RowFault.VALUE_MISSING,
        RowFault.NUMBER,
        RowFault.DOUBLE,
    ]
    assert [each.segments for each in found.rows] == [1, 0, 0, 0]
    assert [each.column for each in found.rows] == [None, "Nom", "Tél", "Tél"]


def test_blank_rows_are_counted_and_left_out(read):
    found = read(b"\n\nNom;Tel\n\nBa;22123456\n;;\nLy;33123456\n\n")
    assert [each.row for each in found.rows] == [5, 7]


def test_a_cell_of_several_lines_is_one_row(read):
    found = read('Tél;Mot\n22123456;"a\nb"\n33123456;c\n'.encode())
    assert found.cells == [["22123456", "a\nb"], ["33123456", "c"]]
    assert [each.row for each in found.rows] == [2, 3]


def test_a_separator_inside_a_value_is_seen(read):
    found = read("Tél,Nom\n22123456,Bâ\n33123456,Ly, Sidi\n".encode())
    assert [each.fault for each in found.rows] == [None, RowFault.CELLS]


def test_a_named_separator_is_no_row(read):
    found = read("sep=,\r\nTél,Nom\r\n22123456,a;b\r\n".encode())
    assert found.recognised["columns"] == ("Tél", "Nom")
    assert found.rows[0].row == 2


def test_what_is_chosen_counts(read):
    octets = "Nom;Tél;Mère\nBâ;22123456;33123456\n".encode("cp1252")
    found = read(octets, encoding="windows-1256", number_column=2, has_header=False)
    assert found.recognised["encoding"] == "windows-1256"
    assert found.numbers == [None, "+22233123456"]
    assert read(octets, separator=",", number_column=0).recognised["columns"] == ("Nom;Tél;Mère",)


def test_other_countries(read):
    found = read(b"Nom,Tel\nFatou,77 123 45 67\nSidi,+222 22 12 34 56\n", countries=("SN", "MR"))
    assert found.numbers == ["+221771234567", "+22222123456"]


def test_pasted_numbers(read):
    found = read("22123456, 33 12 34 56\n٤٤١٢٣٤٥٦;12\n".encode(), source="numbers")
    assert found.recognised["columns"] == ("1",)
    assert not found.recognised["has_header"]
    assert found.numbers == [*NUMBERS, None]
    assert [each.row for each in found.rows] == [1, 2, 3, 4]


def test_a_pasted_table(read):
    found = read("Nom\tTél\nBâ\t22123456\n".encode(), source="numbers")
    assert found.recognised["columns"] == ("Nom", "Tél")
    assert found.cells == [["Bâ", "22123456"]]


def test_rows_of_ours(read):
    lines = b'[7,["22123456","B\xc3\xa2"]]\n[9,["33123456"]]\n'
    found = read(
        lines, source="rows", columns=("Tél", "Nom"), number_column=0, text="Bonjour {{nom}}"
    )
    assert [(each.row, each.fault) for each in found.rows] == [
        (7, None),
        (9, RowFault.VALUE_MISSING),
    ]


@pytest.mark.parametrize(
    ("octets", "fault"),
    [
        (b"", TableFault.EMPTY_FILE),
        (b"\xef\xbb\xbf", TableFault.EMPTY_FILE),
        (b" \r\n\r\n \r\n", TableFault.EMPTY_FILE),
        ("Nom;Tél\n".encode(), TableFault.NO_ROWS),
        (b"\x89PNG\r\n\x1a\n" + bytes(1000), TableFault.NOT_A_TABLE),
        (b"<!DOCTYPE html><table><tr><td>22123456", TableFault.NOT_A_TABLE),
        (b"Tel;Nom\n22123456;a\x00b\n", TableFault.NUL_CHARACTERS),
        ("Tel;Nom\n22123456;a\0b\n".encode("utf-16"), TableFault.NUL_CHARACTERS),
        ("Tel;Nom\n22123456;a\n".encode("utf-16")[:-1], TableFault.BROKEN_ENCODING),
        ("\ufeffTel;Nom\n22123456;".encode() + b"\xe9\n", TableFault.BROKEN_ENCODING),
        (b"Tel;Nom\n22123456;\x81\xe9t\xe9\n", TableFault.BROKEN_ENCODING),
        (b"Tel;Nom\n22123456;=A1+1\n", TableFault.FORMULA_WITHOUT_VALUE),
        (b"Name;Phone\nNom;Tel\nBa;22123456\n", TableFault.TWO_HEADINGS),
    ],
)
def test_what_is_no_table(refused, octets, fault):
    assert refused(octets) is fault


LONG = "x" * (CELL_CHARACTERS_MAX + 1)
HUGE = {
    "a cell": (f"Tel;{LONG}\n", TableFault.CELL_TOO_LONG),
    "megabytes": ("Tel;Nom\n22123456;" + "x" * 5_000_000, TableFault.CELL_TOO_LONG),
    "an open quote": (
        'Tel;Nom\n22123456;"x\n' + "33123456;y\n" * 500,
        TableFault.CELL_TOO_LONG,
    ),
    "columns": ("22123456" + ";x" * 150, TableFault.TOO_MANY_COLUMNS),
    "a million columns": ("22123456" + ";x" * 1_000_000, TableFault.TOO_MANY_COLUMNS),
    "a long line": ("22123456\n" + "x;" * LINE_CHARACTERS_MAX, TableFault.TOO_MANY_COLUMNS),
}


@pytest.mark.parametrize("name", HUGE)
def test_what_is_too_large(refused, name):
    text, fault = HUGE[name]
    assert refused(text.encode()) is fault


def test_a_wrong_choice_is_refused(refused):
    octets = "Nom;Tél\nBâ;22123456\n".encode("cp1252")
    assert refused(octets, encoding="utf-8") is TableFault.BROKEN_ENCODING
    assert refused(octets, number_column=2) is TableFault.UNKNOWN_COLUMN


def test_headings_alone_are_no_list(refused):
    assert refused("Tél\n".encode(), number_column=0) is TableFault.NO_ROWS


def test_rows_are_bounded(refused, read, monkeypatch):
    monkeypatch.setattr(rows, "ROWS_MAX", 3)
    octets = b"Tel\n" + b"22123456\n" * 3
    assert len(read(octets).rows) == 3
    assert refused(octets + b"22123456\n") is TableFault.TOO_MANY_ROWS


@pytest.mark.parametrize("empty", [b"\n", b" ; \n"])
def test_empty_rows_are_bounded(refused, read, monkeypatch, empty):
    monkeypatch.setattr(recognising, "EMPTY_ROWS_MAX", 3)
    octets = b"Tel;Nom\n22123456;A\n" + empty * 3
    assert len(read(octets).rows) == 1
    assert refused(octets + empty) is TableFault.TOO_MANY_EMPTY_ROWS
