"""Whether a row can become a message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.tables.records import RowFault
from risala.engine.features.tables.rules.checking import check_row, read_number, row_checker
from risala.engine.features.tables.rules.rendering import render
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.numbering.plan import DEFAULT, plan_of
from risala.sms.numbering.written import NumberFault
from risala.sms.segment import count

COLUMNS = ("Nom", "Tél", "Frais")


def checked(cells, text="{{Nom}}: {{frais}} MRU", smart=True):
    found = check_row(cells, COLUMNS, 1, text, DEFAULT, smart)
    return found.number, found.fault, found.column, found.segments


def test_a_good_row():
    assert checked(("Sidi", "22 12 34 56", "1500")) == ("+22222123456", None, None, 1)


@pytest.mark.parametrize(
    "cell",
    [
        "22123456",
        "22 12 34 56",
        "22.12.34.56",
        "+222 22 12 34 56",
        "0022222123456",
        "22222123456",
        "٢٢١٢٣٤٥٦",
        "۲۲۱۲۳۴۵۶",
        "\u200e22123456\u200f",
        '="22123456"',
        "'22123456",
        "'+22222123456",
        "’22123456",
        "(222) 22-12-34-56",
    ],
)
def test_numbers_as_people_and_spreadsheets_write_them(cell):
    assert read_number(cell, DEFAULT) == "+22222123456"


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        *((each, RowFault.NUMBER_MISSING) for each in ("", " ", "'", '=""', "\u200b")),
        *((each, RowFault.NUMBER) for each in ("néant", "12", "36 12 34", "01/12/2010")),
        *(
            (each, RowFault.NUMBER)
            for each in ("#N/A", "########", "classe 1234567", "O22123456", "12,50 MRU")
        ),
        ("NaN", RowFault.NUMBER),
        *((each, RowFault.NUMBER_UNSERVED) for each in ("2212345", "77 00 11 22", "٧٧٠٠١١٢٢")),
        # Days, whose digits alone would be a number here.
        *((each, RowFault.NUMBER) for each in ("28/11/2026", "28.11.2026", "2026-11-28")),
        *((each, RowFault.NUMBER) for each in ("28-11-2026 08:30", "٢٨/١١/٢٠٢٦", "'2024-2025")),
        *((each, RowFault.NUMBER) for each in ("2024/2025", "2024 – 2025", '="28/11/2026"')),
        ("28\u201111\u20112026", RowFault.NUMBER),
    ],
)
def test_what_is_no_number(cell, fault):
    assert read_number(cell, DEFAULT) is NumberFault.NUMBER
    assert checked(("Sidi", cell, "1500")) == (None, fault, "Tél", 0)


@pytest.mark.parametrize(
    ("cell", "fault"),
    [
        ("2,2123E+07", RowFault.NUMBER_SHORTENED),
        ("'2.2E+10", RowFault.NUMBER_SHORTENED),
        ("22123456 ::: 33123456", RowFault.TWO_NUMBERS),
        ("22 12 34 56 / 33123456", RowFault.TWO_NUMBERS),
        ("22123456 ext. 12", RowFault.EXTENSION),
        ("22123456-12", RowFault.EXTENSION),
        ("22123456\n33123456", RowFault.TWO_NUMBERS),
        ("'22123456, 33123456", RowFault.TWO_NUMBERS),
        ("22 12 34 56 (père) 33 12 34 56 (mère)", RowFault.TWO_NUMBERS),
        ("٢٢١٢٣٤٥٦ و ٣٣١٢٣٤٥٦", RowFault.TWO_NUMBERS),
        ("+222 22123456 / +33 6 12 34 56 78", RowFault.TWO_NUMBERS),
        ("٢٫٢E+10", RowFault.NUMBER_SHORTENED),
        ("22123456;ext=7", RowFault.EXTENSION),
        ("22123456 poste 4", RowFault.EXTENSION),
    ],
)
def test_what_is_nearly_a_number_says_why_it_is_none(cell, fault):
    assert checked(("Sidi", cell, "1500")) == (None, fault, "Tél", 0)
    assert checked(("33123456", cell, "1500")) == (None, fault, "Tél", 0)


@pytest.mark.parametrize(
    "cell",
    [
        *("", "néant", "12", "-", "0", "#N/A", "\u200e", "28/11/2026", "2024-2025", "voir frais"),
        *("mari", "36 12", "?"),
    ],
)
def test_a_number_in_another_column_is_named(cell):
    assert checked(("Sidi", cell, "33 12 34 56")) == (None, RowFault.OTHER_COLUMN, "Frais", 0)
    fault = RowFault.NUMBER if cell.strip("\u200e") else RowFault.NUMBER_MISSING
    assert checked(("Sidi", cell, "21/11/2010")) == (None, fault, "Tél", 0)
    assert checked(("Sidi", cell, "", "33123456")) == (None, fault, "Tél", 0)


def test_the_first_country_is_home():
    plan = plan_of(("SN", "MR"))
    assert read_number("771234567", plan) == "+221771234567"
    assert read_number("+222 22123456", plan) == "+22222123456"


@pytest.mark.parametrize(
    ("cells", "text", "fault", "column"),
    [
        (("", "22123456", "1"), "{{nom}}", RowFault.VALUE_MISSING, "Nom"),
        (("  ", "22123456", "1"), "{{nom}}", RowFault.VALUE_MISSING, "Nom"),
        (("Sidi", "22123456"), "{{nom}} {{frais}}", RowFault.VALUE_MISSING, "Frais"),
        (("Sidi", "22123456", ""), "{{nom}} {{Classe}}", RowFault.VALUE_MISSING, "Classe"),
        (("Si\x00di", "22123456", ""), "{{nom}}", RowFault.CHARACTERS, "Nom"),
        (("Si\ud800di", "22123456", ""), "{{nom}}", RowFault.CHARACTERS, "Nom"),
        (("\ufffddi", "22123456", ""), "{{nom}}", RowFault.CHARACTERS, "Nom"),
        (("Sidi", "22123456", ""), "a\x1b{{nom}}", RowFault.CHARACTERS, None),
        (("x" * 801, "22123456", ""), "{{nom}}{{nom}}", RowFault.TOO_LONG, None),
        (("Sidi", "22123456", "1", "fille"), "{{nom}}", RowFault.CELLS, None),
        (("\u200b", "22123456", ""), "{{nom}}", RowFault.VALUE_MISSING, "Nom"),
    ],
)
def test_what_is_wrong_with_a_row(cells, text, fault, column):
    number, found, where, segments = checked(cells, text)
    assert (number, found, where) == ("+22222123456", fault, column)
    assert (segments > 0) == (fault is None)


def test_characters_in_a_column_that_the_text_does_not_name_do_not_matter():
    assert checked(("\x00", "22123456", "5"), "{{frais}}")[1] is None


@pytest.mark.parametrize("text", [None, "", "  \n"])
def test_without_a_text_only_numbers_are_checked(text):
    assert checked(("", "22123456", ""), text) == ("+22222123456", None, None, 0)


def test_doubles_are_found_however_they_are_written():
    checker = row_checker(COLUMNS, 1, None, DEFAULT, smart=False)
    seen: set[str] = set()
    written = ("22123456", "x", "+222 22 12 34 56", "33123456", "٢٢١٢٣٤٥٦")
    rows = [checker.check(row, ("", each), seen) for row, each in enumerate(written, start=2)]
    assert [each.fault for each in rows] == [
        None,
        RowFault.NUMBER,
        RowFault.DOUBLE,
        None,
        RowFault.DOUBLE,
    ]
    assert [each.row for each in rows] == [2, 3, 4, 5, 6]
    assert rows[2].number == "+22222123456"


def test_typographic_characters_are_replaced_where_the_organization_wants_it():
    long = ("N’Diaye " * 10, "22123456", "")
    assert checked(long, "{{nom}}", smart=True)[3] == 1
    assert checked(long, "{{nom}}", smart=False)[3] == 2


@given(st.text(max_size=40), st.text(max_size=1700))
def test_a_row_without_a_fault_is_a_message(name, text):
    cells = (name, "22123456", "5")
    found = check_row(cells, COLUMNS, 1, text, DEFAULT, smart=False)
    rendered = render(text, COLUMNS, cells)
    if found.fault is None and text.strip():
        assert rendered.strip()
        assert len(rendered) <= TEXT_CHARACTERS_MAX
        rendered.encode()
        assert "\0" not in rendered
        assert found.segments == count(rendered).segments
    else:
        assert found.segments == 0


@given(st.lists(st.text(), max_size=6))
def test_any_row_can_be_checked(cells):
    found = check_row(cells, COLUMNS, 1, "{{nom}}", DEFAULT, smart=True)
    none = (RowFault.NUMBER, RowFault.NUMBER_MISSING, RowFault.NUMBER_UNSERVED)
    assert (found.number is None) == (found.fault in none)


def test_a_number_of_a_country_that_is_not_open_is_told_as_such():
    cell = "+33612345678"
    assert read_number(cell, DEFAULT) is NumberFault.NOT_SERVED
    assert checked(("Sidi", cell, "1500")) == (None, RowFault.NOT_SERVED, "Tél", 0)


@pytest.mark.parametrize(
    "name",
    [
        *("Salma B", "Salma\u00a0B", "Salma\u202fB\u00a0", "\u3000Salma\u200e B"),
        *("Salma\u00a0\u200bB", "\ufeffSalma", "\u202aSalma\u202c", "\u2068Salma\u2069"),
        *("Sal\u00adma", "Salma\u2060", "Salma\u200d", "Salma\ufe0f", "Sal\u200cma"),
        *("\u061cSalma", "Sal\U000e0001ma"),
        *("Salma\u3164", "Salma\u2003B", "Salma\u180eB", "\u115fSalma"),
    ],
)
def test_a_mark_or_a_kind_of_space_in_a_name_costs_no_part(name):
    text = "Bonjour {{Nom}}, votre rendez-vous a la clinique est demain a 10 h 30. Merci a vous."
    checker = row_checker(("Tél", "Nom"), 0, text, DEFAULT, smart=False)
    assert checker.check(2, ("36123401", name)).segments == 1


@pytest.mark.parametrize("name", ["\u00a0", "\u200e", " \u3164\u200b"])
def test_a_value_that_shows_nothing_is_missing(name):
    checker = row_checker(("Tél", "Nom"), 0, "Bonjour {{Nom}}.", DEFAULT, smart=False)
    assert checker.check(2, ("36123401", name)).fault is RowFault.VALUE_MISSING
