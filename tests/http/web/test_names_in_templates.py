"""Names that people gave are shown apart from what stands beside them, in every template."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jinja2 import Environment, nodes
from markupsafe import Markup

import risala.http
from risala.http.web.templates import title_text

ROOT = Path(risala.http.__file__).parent
TEMPLATES = sorted(
    each for each in ROOT.rglob("*.html") if "templates" in each.relative_to(ROOT).parts
)
NAMES = {"name", "label", "heading", "file_name", "sheet", "contact", "note", "username"}
"""Attributes that may be a name that somebody gave."""
LISTS = {"columns", "sheets"}
"""Attributes that are several of them."""
APART = {"name_of", "isolated", "code", "initials"}
"""What holds its argument apart, or makes two letters of it."""
UNSEEN = {"at", "get", "text", "ticked", "url_for", "asset", "may", "has", "can"}
"""What makes an address of its arguments, or looks something up by them."""
DRAWN_ATTRIBUTES = {"title", "placeholder", "alt"}
"""Other attributes are for programs, or spoken: an accessible name has no direction."""
HELD = {"bdi", "code", "textarea"}
"""Elements that hold apart what is in them; so does one with ``dir``."""
OURS = {
    "dashboard/templates/account_data/show.html": "The labels of our own choices.",
    "dashboard/templates/members/provider.html": "The labels of a record's fields.",
    "operator/templates/messages/find.html": "Why a message failed, in our words.",
    "web/templates/filters_refused.html": "The labels of our filters.",
}
"""Templates whose bare labels are all our own words, in the page's language: the reason."""
EXCEPT = {
    ("dashboard/templates/billing/show.html", 'parts.field("entered-"'): "Words of the settings.",
    ("dashboard/templates/endings/organization.html", 'parts.field("name"'): "A placeholder is "
    "alone in its field, which has its own direction.",
    ("dashboard/templates/keys/credential_made.html", "parts.secret("): "The value of a field.",
    ("dashboard/templates/keys/one.html", 'parts.select("challenge"'): "The label of a record's "
    "field.",
    ("dashboard/templates/keys/one.html", "challenge.label"): "The label of a record's field.",
    ("dashboard/templates/webhooks/form.html", "parts.field(second.name"): "The label of a "
    "record's field.",
    ("web/templates/parts.html", "each.label"): "The labels of a record's fields.",
    ("web/templates/parts.html", "check(each.name"): "The labels of a record's fields.",
    ("web/templates/parts.html", "field(each.name"): "The labels of a record's fields.",
    ("dashboard/templates/inbound/list.html", "label_sentence("): "A sentence of ours.",
    ("dashboard/templates/messages/export.html", "each.label"): "As a chip.",
    ("operator/templates/audit/export.html", "each.label"): "As a chip.",
    ("web/templates/parts.html", "country.name"): "Countries in the page's language.",
}
"""Single bare names that are harmless, by how their expression begins: the reason."""
CHIP = "parts.chip(each.label"
"""What a filter's chip shows is markup of ours, with what was typed in isolates."""


class Shown(HTMLParser):
    """Finds which holes of a template stand in text that nothing holds apart, by their numbers."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
        self.bare: set[int] = set()
        self.options: set[int] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = tag in HELD or "dir" in dict(attrs)
        self.open.append((tag, held))
        for name, value in attrs:
            if name in DRAWN_ATTRIBUTES:
                self.bare |= holes(value or "")
        if tag in ("input", "meta", "link", "br", "img", "hr"):
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        places = [place for place, (name, _) in enumerate(self.open) if name == tag]
        if places:
            del self.open[places[-1] :]

    def handle_data(self, data: str) -> None:
        if not any(held for _, held in self.open):
            self.bare |= holes(data)


def holes(text: str) -> set[int]:
    return {int(each) for each in re.findall("\ue000([0-9]+)\ue001", text)}


def bare_names(source: str) -> Iterator[str]:
    """The expressions of a template that print a name which nothing holds apart."""
    environment = Environment(extensions=["jinja2.ext.do"])
    tree = environment.parse(source)
    called = {*named(tree)}
    plain, written = with_holes(environment, source)
    shown = Shown()
    shown.feed(plain)
    for number in sorted(shown.bare):
        (output,) = environment.parse("{{" + written[number] + "}}").body
        if any(leaves(output, called)):
            yield " ".join(written[number].split())


def named(tree: nodes.Template) -> Iterator[str]:
    """The variables of a template that are set to a name, or go through several."""
    for each in tree.find_all(nodes.For):
        if isinstance(each.iter, nodes.Getattr) and each.iter.attr in LISTS:
            assert isinstance(each.target, nodes.Name)
            yield each.target.name
    for each in tree.find_all(nodes.Assign):
        if isinstance(each.target, nodes.Name) and any(leaves(each.node, set())):
            yield each.target.name


def with_holes(environment: Environment, source: str) -> tuple[str, list[str]]:
    """A template's text with a numbered hole for each expression, and the expressions."""
    written: list[str] = []
    text, expression = "", None
    for _, kind, value in environment.lex(source):
        if kind == "variable_begin":
            expression = ""
        elif kind == "variable_end" and expression is not None:
            text += f"\ue000{len(written)}\ue001"
            written.append(expression)
            expression = None
        elif expression is not None:
            expression += value
        elif kind == "data":
            text += value
        else:
            text += " " if kind == "block_end" else ""
    return text, written


def leaves(node: nodes.Node, called: set[str]) -> Iterator[nodes.Node]:
    """The names in an expression that are printed as they are."""
    if (isinstance(node, nodes.Getattr) and node.attr in NAMES) or (
        isinstance(node, nodes.Name) and node.name in called
    ):
        yield node
    elif isinstance(node, nodes.Call):
        asked = node.node.attr if isinstance(node.node, nodes.Getattr) else node.node.name
        if asked in APART | UNSEEN:
            return
        given = [*node.args, *(each.value for each in node.kwargs)]
        if asked == "_":
            given = given[len(node.args) :]  # the sentence itself is ours
        elif asked in ("field", "check", "select", "day"):
            # Only what stands around a field is shown: its value is in an element of its own.
            shown = [each.value for each in node.kwargs if each.key in ("hint", "placeholder")]
            given = [*node.args[1:2], *shown]
        for each in given:
            yield from leaves(each, called)
    elif isinstance(node, nodes.CondExpr):
        for each in (node.expr1, node.expr2):
            if each is not None:
                yield from leaves(each, called)
    elif isinstance(node, nodes.Compare | nodes.Test | nodes.Getitem | nodes.Not):
        return
    else:
        for each in node.iter_child_nodes():
            yield from leaves(each, called)


@cache
def found() -> Sequence[tuple[str, str]]:
    """Each template's bare names; to read all templates takes a second."""
    return [
        (str(each.relative_to(ROOT)), expression)
        for each in TEMPLATES
        for expression in bare_names(each.read_text(encoding="utf-8"))
    ]


def test_marks_hold_a_name_apart_in_a_title():
    title = Markup('Key <bdi>قسم (6) &amp; <b>x</b></bdi> of <bdi class="num">3</bdi>')
    assert title_text(title) == "Key \u2068قسم (6) & x\u2069 of \u20683\u2069"


def test_every_name_is_shown_apart():
    assert {each for each in found() if excepted(*each) is None} == set()


def test_no_exception_is_idle():
    every = {excepted(*each) for each in found()}
    assert every - {None} == OURS.keys() | EXCEPT.keys() | {CHIP}


def excepted(template: str, expression: str) -> object:
    """The exception of a bare name; None: it has none."""
    if template in OURS:
        return template
    for place, beginning in EXCEPT:
        if template == place and expression.startswith(beginning):
            return place, beginning
    return CHIP if expression.startswith(CHIP) else None


@pytest.mark.parametrize(
    "template",
    [
        "<p>{{ list.name }}</p>",
        "<title>{{ mailing.name }}</title>",
        "<option>{{ each.label or '–' }}</option>",
        '{{ parts.head(_("x"), crumb=(at(here), mailing.name)) }}',
        '<p>{{ _("Hello {name}", name=user.name) }}</p>',
        "{% for column in list.columns %}<th>{{ column }}</th>{% endfor %}",
        "{% set shown = key.name or key.id %}<b>{{ shown }}</b>",
        '<input placeholder="{{ found.name }}">',
        '{{ parts.field("x", key.name, "") }}',
        "<bdi>{{ a.name }}</bdi>{{ b.name }}",
    ],
)
def test_a_bare_name_is_found(template):
    assert len([*bare_names(template)]) == 1


@pytest.mark.parametrize(
    "template",
    [
        "<p><bdi>{{ list.name }}</bdi></p>",
        "<bdi>{% if x %}{{ list.name }}{% else %}–{% endif %}</bdi>",
        '<p dir="auto">{{ key.note }}</p>',
        "<option>{{ parts.isolated(each.name) }}</option>",
        '<a href="{{ at("x/" ~ each.name) }}" aria-label="{{ each.name }}">x</a>',
        '{{ _("Hello {name}", name=request.name_of(user.name)) }}',
        '{{ parts.field("name", _("Name"), key.name, faults) }}',
        '{{ "on" if key.name == "x" else "off" }}',
        "{{ titles[each.name] }}",
    ],
)
def test_what_holds_a_name_apart(template):
    assert not [*bare_names(template)]
