"""Our quick templates draw what Jinja's own draw, and let nothing through that those hold back."""

from __future__ import annotations

import pytest
from jinja2 import DictLoader, Environment, StrictUndefined, UndefinedError
from markupsafe import Markup

from risala.http.web.drawing.cached import QuickEnvironment, as_markup

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
