"""Our quick templates draw what Jinja's own draw, and let nothing through that those hold back."""

from __future__ import annotations

from contextvars import ContextVar
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from jinja2 import DictLoader, Environment, StrictUndefined, UndefinedError
from markupsafe import Markup

from risala.engine.model.people import Language
from risala.http.web.cached import KEPT_MAX, NoReader, QuickEnvironment, as_markup, caching
from risala.http.web.formats import Formats, bare_formats
from risala.http.web.languages import load_words
from risala.http.web.templates import OWN

TEMPLATES = {
    "parts.html": """
{% macro field(name, value="", hint=None) %}<p id="{{ name }}">{{ value }}{% if hint %}{{ hint }}
{% endif %}{% if caller is defined %}{{ caller() }}{% endif %}</p>{% endmacro %}""",
    "base.html": "<title>{% block title %}{% endblock %}</title>{% block main %}{% endblock %}",
    "page.html": """{% extends "base.html" %}
{% import "parts.html" as parts %}
{% from "parts.html" import field with context %}
{% block title %}{{ told }} {{ made }}{% endblock %}
{% block main %}
{% for each in rows %}{{ loop.index }} {{ each.name }} {{ each["of"] }} {{ twice(each.of) }}
{{ parts.field(each.name, value=each.of, hint=loop.last) }}{% endfor %}
{% call parts.field("x", told) %}{{ told }} {{ made }} {{ told | upper }}{% endcall %}
{% set kept %}{{ told }}{% endset %}{{ kept }} {{ field(told) }} {{ none }} {{ 3 }} {{ 1.5 }}
{{ made ~ told }} {{ [told, made] | join(", ") }} {{ drawn }} {{ told | safe }}
{% autoescape false %}{{ told }}{% endautoescape %}
{% endblock %}""",
}
HOSTILE = """<script>'"&{{ 7 * 7 }}\u202e</script>"""


class DrawsItself:
    def __html__(self) -> str:
        return "<b>drawn</b>"


class SaysItIsMarkup(str):
    """A text that looks like markup to whoever asks by the name of its class alone."""

    __slots__ = ()

    @property
    def __class__(self) -> type:
        return Markup


def drawn(environment: type[Environment], told: object) -> str:
    made = environment(
        loader=DictLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.loopcontrols"],
    )
    made.globals["twice"] = lambda value: [value, value]
    values = {
        "told": told,
        "made": Markup("<i>ours</i>"),
        "drawn": DrawsItself(),
        "rows": [{"name": told, "of": Markup("<u>")}, {"name": "b", "of": HOSTILE}],
    }
    return made.get_template("page.html").render(values)


@pytest.mark.parametrize(
    "told", ["plain", HOSTILE, Markup("<b>ours</b>"), 7, None, True, [HOSTILE]]
)
def test_a_page_is_drawn_as_by_jinja_itself(told):
    assert drawn(QuickEnvironment, told) == drawn(Environment, told)


def test_text_is_escaped_whatever_it_says_it_is():
    template = QuickEnvironment(autoescape=True).from_string("{{ told }}")
    assert template.render(told=SaysItIsMarkup("<script>")) == "&lt;script&gt;"
    assert template.render(told=HOSTILE) == str(Markup.escape(HOSTILE))


def test_what_is_missing_does_not_pass():
    environment = QuickEnvironment(autoescape=True, undefined=StrictUndefined)
    with pytest.raises(UndefinedError):
        environment.from_string("{{ nothing }}").render()
    with pytest.raises(UndefinedError):
        environment.from_string("{{ nothing() }}").render()


def test_made_markup_is_markup():
    made = as_markup("<b>&amp;</b>")
    assert type(made) is Markup
    assert made + "<" == Markup("<b>&amp;</b>&lt;")


# What is drawn once for all readers has nothing of any of them.

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
