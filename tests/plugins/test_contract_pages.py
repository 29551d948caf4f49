"""The reference pages of the contracts are those of the code, and every field has its meaning."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from risala.plugins.document import PAGES, render_page
from risala.plugins.testing.checks import checks_of

FOLDER = Path(__file__).parents[2] / "docs/reference"
BY_FILE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.file)
BY_SUITE = pytest.mark.parametrize(
    "page", [page for page in PAGES if page.suite], ids=lambda page: page.file
)


@BY_FILE
def test_the_page_is_that_of_the_code(page):
    written = (FOLDER / page.file).read_text(encoding="utf-8")
    assert written == render_page(page), "`make generated` writes it"


@BY_FILE
def test_every_field_says_what_it_means(page):
    rows = [line for line in render_page(page).splitlines() if line.startswith("| `")]
    assert rows
    assert [row for row in rows if re.search(r"\|\s*\|$", row)] == []


@BY_FILE
def test_every_thing_has_a_sentence(page):
    text = render_page(page)
    assert re.findall(r"^#{3,4} [^\n]+\n\n+(?=#)", text, re.MULTILINE) == []


@BY_SUITE
def test_each_check_names_a_place_that_is_there(page):
    headings = re.findall(r"^#+ (.+)$", render_page(page), re.MULTILINE)
    there = {re.sub(r"[^a-z0-9_ -]", "", one.lower()).replace(" ", "-") for one in headings}
    module, name = page.suite
    suite = getattr(__import__(module, fromlist=[name]), name)
    places = {at for _, _, at in checks_of(suite)}
    assert {at.partition("#")[0] for at in places} == {page.file}
    assert {at.partition("#")[2] for at in places} <= there


def test_a_docstring_becomes_markdown():
    text = render_page(PAGES[0])
    assert ":class:" not in text
    assert "``" not in text.replace("```", "")


@BY_SUITE
def test_reports_say_each_check_in_plain_words(page):
    """An author reads them in a report: no role of reST, as ``:attr:``, stands in them."""
    module, name = page.suite
    sentences = [told for _, told, _ in checks_of(getattr(importlib.import_module(module), name))]
    assert all(sentences)
    assert [told for told in sentences if re.search(r":[a-z]+:`|``", told)] == []
