"""Statements as PDF: the same octets each time, in the direction of the language, bounded."""

import re
import subprocess
import sys
import zlib
from dataclasses import replace

import pytest

from risala.engine.features.statements.records import MonthStatement
from risala.engine.model.people import Language
from risala.engine.model.records.record import from_json
from risala.http.web.files import paper
from risala.http.web.languages import load_words
from risala.http.web.statements import paper_of
from web_statements import month_statement

ARABIC = "سوق البركة"


def statement(**changes):
    return from_json(MonthStatement, month_statement(organization_id="org_1", **changes))


def paper_in(language, **changes):
    return paper_of(statement(**changes), load_words(Language(language)))


@pytest.mark.parametrize("language", ["en", "fr", "ar"])
def test_the_same_statement_makes_the_same_octets(language):
    octets = paper.write(paper_in(language))
    assert octets == paper.write(paper_in(language))
    assert octets.startswith(b"%PDF-")
    assert f"/Lang ({language})".encode() in octets
    assert b"/DisplayDocTitle true" in octets


def test_it_says_no_time_but_its_own():
    assert b"20261201000000" in paper.write(paper_in("en")).replace(b"D:", b"")


def placed(octets):
    """Where each text of the first page begins, in points."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", octets, re.DOTALL)
    page = zlib.decompress(streams[0])
    return [float(x) for x in re.findall(rb"BT ([\d.]+) [\d.]+ Td", page)]


def test_arabic_begins_at_the_right():
    assert min(placed(paper.write(paper_in("en")))) < 60
    (sender, *_) = placed(paper.write(paper_in("ar")))
    assert sender > 400


@pytest.fixture
def writer():
    """Makes writers, and closes their fonts."""
    made = []

    def make(language, **changes):
        made.append(paper._Writer(paper_in(language, **changes)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_name_of_another_script_keeps_its_direction(writer):
    made = writer("fr", organizationName=ARABIC)
    directions = [made._pdf.text_shaping["direction"].value]
    for cell in (f"\u2068{ARABIC}\u2069", "\u2068Baraka\u2069", ARABIC):
        with made._direction_of(cell):
            directions.append(made._pdf.text_shaping["direction"].value)
    assert directions == ["LTR", "RTL", "LTR", "LTR"]
    assert made._pdf.text_shaping["direction"].value == "LTR"


def test_a_letter_that_no_font_has_is_a_question_mark(writer):
    made = writer("en")
    assert made._clean("Ŋ 統 é 12\u202f480") == "? ? é 12\u00a0480"


def test_a_long_cell_is_cut(writer):
    made = writer("en")
    made._pdf.set_font("Paper", "", 9)
    cut = made._fitting("x" * 400, 40)
    assert cut.endswith("…")
    assert made._pdf.get_string_width(cut) <= 38


def test_the_rows_of_one_file_are_bounded(monkeypatch):
    whole = paper_in("en")
    (table, *_) = whole.tables
    long = replace(whole, tables=(replace(table, rows=table.rows * 300),))
    monkeypatch.setattr(paper, "ROWS_MAX", 30)
    cut = paper.write(long)
    assert cut.count(b"/Type /Page\n") == 2
    monkeypatch.setattr(paper, "ROWS_MAX", 300)
    assert paper.write(long).count(b"/Type /Page\n") > 4


async def test_one_is_written_at_a_time():
    assert (await paper.pdf_of(paper_in("en"))).startswith(b"%PDF-")
    assert paper._LIMITER.get().total_tokens == 1


def test_tags_become_isolates():
    words = load_words(Language.ENGLISH)
    assert paper.text_of(words("{sum}", sum="<b>")) == "<b>"
    text = paper.text_of(paper.Markup('<bdi class="num">1&amp;2</bdi> <span>x</span>'))
    assert text == "\u20681&2\u2069 x"


def test_it_says_what_it_does_not_have():
    assert any(
        "1 Nov 2026" in each for each in paper_in("en", countedUntil="2026-11-01T00:00:00Z").notes
    )


def test_only_what_the_month_has_gets_a_column():
    titles = [each.title for each in paper_in("en").tables[1].columns]
    assert titles == [
        "Day",
        "Mailings",
        "API keys",
        "Codes",
        "Refunds",
        "Payments",
        "Balance after",
    ]
    bare = paper_in("en", refunded="0.00", payments=[])
    assert [each.title for each in bare.tables[0].columns][-2:] == ["Codes", "Balance after"]


def test_nothing_of_it_is_imported_before_the_first():
    program = (
        "import sys, risala.http.web.statements;"
        "print([each for each in ('fpdf', 'uharfbuzz', 'PIL', 'fontTools') if each in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
