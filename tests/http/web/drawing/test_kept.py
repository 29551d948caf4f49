"""What is drawn once for all readers has nothing of any of them."""

from __future__ import annotations

from contextvars import ContextVar
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from jinja2 import DictLoader
from markupsafe import Markup

from risala.engine.model.people import Language
from risala.http.web.drawing.cached import KEPT_MAX, NoReader, QuickEnvironment, caching
from risala.http.web.formats import Formats, bare_formats
from risala.http.web.languages import load_words
from risala.http.web.templates import OWN

words_of = cache(load_words)
READER: ContextVar = ContextVar("reader")


class Reader:
    def __init__(self, language: Language) -> None:
        self.formats = Formats(words_of(language), ZoneInfo("UTC"), "MRU", 0)


class Counted:
    """An argument that counts how often it is drawn."""

    def __init__(self) -> None:
        self.times = 0

    def __str__(self) -> str:
        self.times += 1
        return "<b>"


@pytest.fixture
def drawn_once():
    environment = QuickEnvironment(
        loader=DictLoader({"kept/part.html": "{{ _('Close') }} {{ given }}", "other.html": ""}),
        autoescape=True,
    )
    environment.globals["_"] = lambda sentence: READER.get().formats.words(sentence)
    READER.set(Reader(Language.ENGLISH))
    return caching(environment, READER, bare_formats)


def test_it_is_drawn_once_for_the_same_arguments(drawn_once):
    given = Counted()
    assert [drawn_once("part.html", given=given) for _ in range(3)] == ["Close &lt;b&gt;"] * 3
    assert given.times == 1
    assert drawn_once("part.html", given=Counted()) == "Close &lt;b&gt;"


def test_each_language_has_its_own(drawn_once):
    english = drawn_once("part.html", given=1)
    READER.set(Reader(Language.FRENCH))
    assert drawn_once("part.html", given=1) == f"{words_of(Language.FRENCH)('Close')} 1" != english


def test_markup_of_the_same_letters_is_something_else(drawn_once):
    assert drawn_once("part.html", given=Markup("<i>")) == "Close <i>"
    assert drawn_once("part.html", given="<i>") == "Close &lt;i&gt;"
    assert (drawn_once("part.html", given=1), drawn_once("part.html", given=True)) == (
        "Close 1",
        "Close True",
    )
    with pytest.raises(TypeError, match="text from markup"):
        drawn_once("part.html", given=("<i>",))


def test_the_reader_is_out_of_reach():
    nobody = NoReader(bare_formats(words_of(Language.ENGLISH)))
    for use in (nobody.marks, lambda: nobody.at("keys"), lambda: nobody.may("owner")):
        with pytest.raises(RuntimeError, match="hand it in"):
            use()
    with pytest.raises(RuntimeError, match="hand it in"):
        _ = nobody.face


def test_who_reads_is_known_again_after_it(drawn_once):
    reader = READER.get()
    drawn_once("part.html", given="x")
    assert READER.get() is reader
    with pytest.raises(TypeError):
        drawn_once("part.html", given=["not a key"])
    assert READER.get() is reader


def test_parts_that_are_kept_ask_for_nothing_of_a_reader():
    """Not by a form's marks, and not by what a page's request knows."""
    parts = sorted((OWN / "kept").glob("*.html"))
    assert parts
    for path in parts:
        text = path.read_text("utf-8")
        assert [word for word in ("request", "marks", "at(", "may(") if word in text] == [], path
    assert KEPT_MAX < 10_000
