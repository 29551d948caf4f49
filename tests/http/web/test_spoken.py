"""Pages show the engine's refusals in the reader's language: each that a page can meet is known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import risala.engine
from risala.engine.model import errors
from risala.engine.model.people import Language
from risala.http.web.languages import load_words
from risala.http.web.refusals import refusal_sentence
from risala.http.web.spoken import SPOKEN

ENGINE = Path(risala.engine.__file__).parent
HOLE = "\N{OBJECT REPLACEMENT CHARACTER}"
"""In the place of what a sentence of the engine's has of its own."""
NOT_ON_PAGES = {
    "No text and no call comes in, because the service is not running. Start the service first.",
    # Only a command meets them: pages are there when the service is.
    f"{HOLE} because {HOLE}",
    "The service is not running, so no carrier is connected.",
    "The service is not running, so there is nothing to follow.",
    "The file cannot be read because the service is not running. Start the service first.",
    "This service has no settings that can be reloaded.",
    f"{HOLE} cannot send now: {HOLE}",  # an operator's text: risala carriers text
    f"{HOLE} has no secret in its address: its driver proves who calls.",
    "Nobody may send by mail: the settings have no [[mail_to_sms]] table.",
    f"There are {HOLE} organizations: name one in [[mail_to_sms]].",
    'Answers wait for no second machine here: that needs replicate = "before_answer" in [standby]'
    ", and the service running.",
    "Answers go on waiting: PostgreSQL has to know first that they do not, or a takeover would send"
    f" messages twice. {HOLE}",
}
MET = {
    # Its end is made elsewhere: a test below has the whole of it.
    f"The reference {HOLE} was already credited: {HOLE}.",
}
UNREAD = {
    "delivery/driver_commands.py": "str(error)",  # the driver's own words
    "journal/accounts/ledger.py": "credited(first)",
}


def _text(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) or HOLE for part in parts)
    return None


def _texts(node: ast.expr, tree: ast.Module, module: str) -> list[str]:
    """The sentences that an expression may be."""
    if (found := _text(node)) is not None:
        return [found]
    name = node.value if isinstance(node, ast.Subscript) else node
    if not isinstance(name, ast.Name):
        return []
    told = []
    for each in ast.walk(tree):
        match each:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name.id:
                told.append(value)
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if (
                target == name.id
            ):
                told += value.values if isinstance(value, ast.Dict) else [value]
    if not told and (imported := getattr(import_module(module), name.id, None)) is not None:
        return [imported]
    return [text for value in told if (text := _text(value)) is not None]


@cache
def conflicts() -> Sequence[tuple[str, list[str], str]]:
    """Each place that refuses, its sentences, and its expression."""
    return [*_conflicts()]


def _conflicts() -> Iterator[tuple[str, list[str], str]]:
    for path in sorted(ENGINE.rglob("*.py")):
        source = path.read_text("utf-8")
        if "Conflict" not in source:  # to parse the whole engine takes a second
            continue
        tree = ast.parse(source)
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id="Conflict"), args=[first, *_]):
                    inner = path.relative_to(ENGINE).with_suffix("")
                    module = ".".join(("risala.engine", *inner.parts))
                    yield f"{inner}.py", _texts(first, tree, module), ast.unparse(first)


def _is_spoken(text: str) -> bool:
    return any(
        re.fullmatch(re.sub(r"\\{[a-z]+\\}", ".+", re.escape(each)), text) for each in SPOKEN
    )


def test_a_page_knows_each_conflict_that_it_can_meet():
    """A new one: into ``http/web/spoken.py``, or here if no page can meet it."""
    said = {text for _, texts, _ in conflicts() for text in texts}
    assert {text for text in said - NOT_ON_PAGES - MET if not _is_spoken(text)} == set()
    assert said >= NOT_ON_PAGES | MET


def test_no_conflict_is_overlooked():
    unread = {where: told for where, texts, told in conflicts() if not texts}
    assert unread == UNREAD


@pytest.mark.parametrize("language", [Language.FRENCH, Language.ARABIC])
def test_no_reader_gets_another_language(language):
    words = load_words(language)
    for each in SPOKEN:
        text = re.sub(r"\{[a-z]+\}", "pending", each)
        shown = str(refusal_sentence(words, errors.Conflict(text)))
        assert shown != text


def test_what_the_engine_says_goes_before_what_its_kind_means():
    words = load_words(Language.ENGLISH)
    suspended = errors.Forbidden("The organization is not active.")
    assert refusal_sentence(words, suspended) == "The organization is not active."
    assert refusal_sentence(words, errors.Forbidden("x")) == "Your role does not allow this."


def test_a_state_is_named_as_the_pages_name_it():
    error = errors.Conflict("The message is canceled. Only a pending message can be withdrawn.")
    assert "Annulé" in refusal_sentence(load_words(Language.FRENCH), error)


@pytest.mark.parametrize("by", ["", " by pay_1,"])
def test_a_reference_that_was_credited_is_named(by):
    told = f"The reference AB1 was already credited: 5.00 to org_1,{by} at 2026-11-28T10:00:00Z."
    shown = str(refusal_sentence(load_words(Language.FRENCH), errors.Conflict(told)))
    assert "AB1" in shown
    assert "credited" not in shown
