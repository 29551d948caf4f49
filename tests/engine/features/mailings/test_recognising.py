"""What a table is, by looking."""

import csv
import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from risala.engine.features.tables.records import COLUMNS_MAX
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable
from risala.engine.features.tables.rules.recognising import (
    SEPARATORS,
    column_names,
    numbers_of,
    recognise_separator,
    recognise_table,
    sample_rows,
    separator_named,
    split,
)
from risala.sms.numbering.plan import DEFAULT


def lines(text):
    return io.StringIO(text, newline="").readlines()


def table(text, separator=";", **chosen):
    sample = [*sample_rows(split(lines(text), separator))]
    return recognise_table(sample, DEFAULT, **chosen)


def fault(text, separator=";", **chosen):
    with pytest.raises(UnreadableTable) as raised:
        table(text, separator, **chosen)
    return raised.value.fault


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("Nom;Tél\nBâ;22123456\n", ";"),
        ("Nom,Tél\nBâ,22123456\n", ","),
        ("Nom\tTél\nBâ\t22123456\n", "\t"),
        ("Nom|Tél\nBâ|22123456\n", "|"),
        ("Tél;Somme\n22123456;1,5\n33123456;2,5\n", ";"),
        ("Tél,Note\n22123456,a;b\n33123456,c;d\n", ","),
        ('"Bâ, Sidi";22123456\n"Sow, Ali";33123456\n', ";"),
        ('"Bâ\nSidi";22123456\n', ";"),
        ("22123456\n33123456\n", None),
        ("Téléphone\n22123456\n", None),
        ("Tél, mobile\n22123456\n33123456\n", None),
        ("22123456;33123456;44123456", ";"),
        ("", None),
    ],
)
def test_separators_are_recognised(text, separator):
    assert recognise_separator(lines(text), DEFAULT) == separator


@pytest.mark.parametrize(
    ("line", "separator"),
    [
        *(("sep=;\r\n", ";"), ('"sep=,"', ","), ("SEP=\t\n", "\t"), ("sep=|\r", "|")),
        *(("sep=;;;\r\n", ";"), ('"sep=;";;\n', ";"), ("sep=,,,,\n", ","), (" Sep=; \n", ";")),
        *(
            ("sep=", None),
            ("sep=\r\n", None),
            ("sep=x", None),
            ("separator;b", None),
            ("a;b", None),
        ),
    ],
)
def test_a_separator_that_is_named(line, separator):
    assert separator_named(line) == separator


@pytest.mark.parametrize(
    ("text", "has_header", "columns", "number_column"),
    [
        ("Nom;Tél\nBâ;22123456\n", True, ("Nom", "Tél"), 1),
        ("Bâ;22123456\nSow;33123456\n", False, ("1", "2"), 1),
        ("22123456\n33123456\n", False, ("1",), 0),
        ("22123456\n", False, ("1",), 0),
        ("الاسم;رقم الهاتف\nمحمد;٢٢١٢٣٤٥٦\n", True, ("الاسم", "رقم الهاتف"), 1),
        ("Tel 1;Nom\n22123456;a\n", True, ("Tel 1", "Nom"), 0),
        # The first column of phone numbers, where there are two.
        ("Nom;Père;Mère\nBâ;22123456;33123456\n", True, ("Nom", "Père", "Mère"), 1),
        # A column that says so, though another has as many numbers.
        ("Matricule;Tél\n20251234;22123456\n20251235;33123456\n", True, ("Matricule", "Tél"), 1),
        # Days are no numbers, though their digits would be.
        ("Né le;GSM\n21/11/2010;22123456\n2010-11-21;33123456\n", True, ("Né le", "GSM"), 1),
        # A few have no number.
        ("Nom;Tél\nBâ;\nSow;néant\nLy;22123456\n", True, ("Nom", "Tél"), 1),
        # Columns without a heading, and two with the same.
        ("Nom;Tél;;nom\nBâ;22123456;x;y\n", True, ("Nom", "Tél", "3", "nom 2"), 1),
        ("Nom;Tél;;;\nBâ;22123456;;;\n", True, ("Nom", "Tél"), 1),
        ("Nom;Tél;\nBâ;22123456;\nSow;33123456;boursier\n", True, ("Nom", "Tél", "3"), 1),
        # A wider row has a separator in a value: the headings count.
        ("Nom;Tél\nBâ;22123456;Sidi\nLy;33123456\nSy;44123456\n", True, ("Nom", "Tél"), 1),
        # The only number is behind the headings.
        ("Nom;Tél\nBâ;x\nLy;y;22123456\nSy;z\n", True, ("Nom", "Tél", "3"), 2),
        ("\n;;\nNom;Tél\nBâ;22123456\n", True, ("Nom", "Tél"), 1),
    ],
)
def test_tables_are_recognised(text, has_header, columns, number_column):
    assert table(text)[:3] == (has_header, columns, number_column)


def test_what_is_chosen_counts():
    text = "Nom;Père;Mère\nBâ;22123456;33123456\n"
    assert table(text, number_column=2).number_column == 2
    assert table(text, has_header=False) == (False, ("1", "2", "3"), 1, 0)
    assert table("Bâ;22123456\nSow;33123456\n", has_header=True).columns == ("Bâ", "22123456")
    assert fault(text, number_column=3) is TableFault.UNKNOWN_COLUMN
    assert fault(text, number_column=-1) is TableFault.UNKNOWN_COLUMN


@pytest.mark.parametrize(
    "text",
    [
        "Name;Phone\nالاسم;الهاتف\nBâ;22123456\n",
        "Nom;Tél\nNom;Tél\nBâ;22123456\n",
    ],
)
def test_two_rows_of_headings(text):
    assert fault(text) is TableFault.TWO_HEADINGS
    # Whoever says that the first has them is believed: the second is a bad row.
    assert table(text, has_header=True).has_header


@pytest.mark.parametrize(
    ("text", "columns", "titles"),
    [
        ("Liste des parents\nNom;Tél\nBâ;22123456\n", ("Nom", "Tél"), 1),
        ("Parent;\nNom;Tél\nBâ;22123456\n", ("Nom", "Tél"), 1),
        ("Téléphones\nTél;Nom\n22123456;Bâ\n", ("Tél", "Nom"), 1),
        ("Clients 2024\nNom;Tél\nBâ;22123456\n", ("Nom", "Tél"), 1),
        ("2024;;\nNom;Tél;Classe\nBâ;22123456;5e\n", ("Nom", "Tél", "Classe"), 1),
        (";20241128\nNom;Tél\nBâ;22123456\n", ("Nom", "Tél"), 1),
        ("20241128\nTél;Nom\n22123456;Bâ\n", ("Tél", "Nom"), 1),
        ("École\nAnnée 2024-2025\n\nNom;Tél\nBâ;22123456\n", ("Nom", "Tél"), 2),
        ("Du;28/11/2024;\nNom;Tél;Classe\nBâ;22123456;5e\n", ("Nom", "Tél", "Classe"), 1),
        ("Élève;;Contact\nNom;Âge;Tél\nBâ;7;22123456\n", ("Nom", "Âge", "Tél"), 1),
        ("Liste\nNom;Père;Mère\nBâ;22123456;33123456\n", ("Nom", "Père", "Mère"), 1),
        ("Total : 1500 MRU\nالاسم;الهاتف\nBâ;22123456\n", ("الاسم", "الهاتف"), 1),
        ("Date;28/11/2026\nNom;Tél\nBâ;22123456\n", ("Nom", "Tél"), 1),
        ("Total;2\nListe\nNom;Tél\nBâ;22123456\n", ("Nom", "Tél"), 2),
        ("Année;2024-2025\nMontant;1500,00\nNom;GSM\nBâ;22123456\n", ("Nom", "GSM"), 2),
        ("التاريخ;٢٨/١١/٢٠٢٦\nالاسم;الهاتف\nسيدي;22123456\n", ("الاسم", "الهاتف"), 1),
        # None: people without a number, and a wider row of a person.
        ("Bâ;12\nLy;22123456\n", ("1", "2"), 0),
        ("Nom;Tél\nBâ;12\nNom;Tél\nLy;22123456\n", ("Nom", "Tél"), 0),
        ("Nom;Tél\nBâ;\nSow;néant\nLy;22123456\n", ("Nom", "Tél"), 0),
        ("Nom;Tél\nBâ;perdu;x\nLy;22123456\nSy;33123456\n", ("Nom", "Tél"), 0),
        ("22123456\n33123456\n", ("1",), 0),
        ("Bâ;22123456\nLy;33123456;Tél\n", ("1", "2", "3"), 0),
    ],
)
def test_titles_above_the_headings_are_nobody_s_rows(text, columns, titles):
    found = table(text)
    assert (found.columns, found.titles) == (columns, titles)
    assert found.has_header is (not columns[0].isdigit())
    # Read again as it was recognised, it is the same table.
    assert table(text, has_header=found.has_header, number_column=found.number_column) == found


def test_a_first_row_that_is_said_to_be_a_person_is_one():
    assert table("Liste\nNom;Tél\nBâ;22123456\n", has_header=False).titles == 0


def test_what_is_no_table():
    assert fault("") is TableFault.EMPTY_FILE
    assert fault("\n;;\n") is TableFault.EMPTY_FILE
    assert fault("Nom;Tél\nBâ;12\n") is TableFault.NO_NUMBERS
    assert fault("Nom;Tél\n") is TableFault.NO_ROWS
    assert fault("Nom;Âge\n") is TableFault.NO_NUMBERS
    assert fault(";".join("x" * (COLUMNS_MAX + 1))) is TableFault.TOO_MANY_COLUMNS
    assert table("22123456" + ";" * 1000).columns == ("1",)


@pytest.mark.parametrize("cell", ["=A1", "=SOMME(A1:A2)", "=-1", "= a", "=cmd|' /C calc'!A0"])
def test_formulas_in_a_text(cell):
    with pytest.raises(UnreadableTable) as raised:
        [*split(["a;b\n", f"1;{cell}\n"], ";")]
    assert raised.value.fault is TableFault.FORMULA_WITHOUT_VALUE
    assert raised.value.row == 2
    assert str(raised.value).startswith("Row 2: a cell has a formula")


def test_what_keeps_a_cell_a_text_is_left_out():
    row = ["=\"022\";'+222;'=1;' -x;'t;=);a=1; x \n"]
    assert [*split(row, ";")] == [["022", "+222", "=1", "-x", "'t", "=)", "a=1", "x"]]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("22123456", ["22123456"]),
        ("22123456, 33 12 34 56;+22244123456\n٢٢١٢٣٤٥٦\n\n", 4),
        ("22123456،33123456؛44123456", 3),
        ("22123456 Sidi", None),
        ("", []),
    ],
)
def test_numbers_that_were_pasted(text, numbers):
    found = numbers_of(text)
    assert found == numbers if not isinstance(numbers, int) else len(found) == numbers


cells = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Z", "Cf"], exclude_characters="='’"), max_size=9
)


@given(
    st.lists(st.tuples(cells, st.integers(20000000, 49999999), cells), min_size=3, max_size=9),
    st.sampled_from(SEPARATORS),
)
def test_each_separator_is_recognised_and_cells_come_back(rows, separator):
    out = io.StringIO(newline="")
    written = [[a, str(number), b] for a, number, b in rows]
    csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL).writerows(written)
    found = recognise_separator(lines(out.getvalue()), DEFAULT)
    assert found == separator
    read = [*split(lines(out.getvalue()), separator)]
    assert [[cell.strip() for cell in row] for row in written] == read


@given(st.lists(st.text(max_size=5), max_size=9), st.integers(0, 12))
def test_each_column_has_a_name_of_its_own(headings, width):
    names = column_names(headings, width)
    assert len(names) == width == len({*names})


@given(st.text(max_size=200))
def test_any_text_is_a_table_or_has_a_fault(text):
    with suppress(UnreadableTable):
        separator = recognise_separator(lines(text), DEFAULT)
        found = table(text, separator)
        assert 0 <= found.number_column < len(found.columns)
