"""What others wrote, on a terminal."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import risala.cli
from risala.cli.show import output

ROOT = Path(risala.cli.__file__).parent
PRINTING = {"said", "warned", "echo", "CommandRefused"}
NAMES = {"name", "label", "username", "email", "note", "reason", "contact", "sheet", "subject"}
"""Attributes that may be somebody's words."""
OWN_FILE = "A file that whoever runs the command named in it."
EXCEPT = {
    ("commands/upkeep/inspect.py", "file.name"): OWN_FILE,
    ("commands/upkeep/backup.py", "file.name"): OWN_FILE,
    ("commands/upkeep/backup.py", "checksum.beside(file).name"): OWN_FILE,
}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        *((None, "–"), (True, "yes"), (5, "5"), ("a\tb\nc", "a b⏎c"), ("a\x1b[2J", "a\\x1b[2J")),
        *(
            ("a\u202eb", "a\\u202eb"),
            ("\u2067a\u2069", "\\u2067a\\u2069"),
            ("می\u200cخ", "می\u200cخ"),
        ),
    ],
)
def test_nothing_turns_what_stands_behind_it(written, shown):
    assert output.clean(written) == shown


def test_arabic_stands_in_an_isolate_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert output.clean("قسم 6") == "\u2068قسم 6\u2069"
    assert output.clean("Classe 6") == "Classe 6"


def test_a_sentence_controls_no_terminal(monkeypatch, capsys):
    output.said("The list \x1b[2J\u202etsil is created.")
    output.warned("Check \x9b2J.\nThen go on.")
    told = capsys.readouterr()
    assert told.out == "The list \\x1b[2J\\u202etsil is created.\n"
    assert told.err == "Check \\x9b2J.\nThen go on.\n"


def test_a_name_in_a_sentence_is_held_apart_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    output.said(f"The list {output.clean('قسم (6)')} is deleted.")
    output.said(f"The list {output.clean('Class (6)')} is deleted.")
    arabic, plain = capsys.readouterr().out.splitlines()
    assert arabic.endswith("The list \u2068قسم (6)\u2069 is deleted.")
    assert plain.endswith("The list Class (6) is deleted.")


def test_a_name_on_stderr_is_held_apart_where_that_is_the_terminal(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert output.clean("قسم 6", err=True) == "\u2068قسم 6\u2069"
    assert output.clean("قسم 6") == "قسم 6"


def test_what_is_cleaned_for_stderr_says_so():
    """A name in a warning or a refusal, of which stdout's being a pipe says nothing."""
    for file in ROOT.rglob("*.py"):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if _asked(call) in ("warned", "CommandRefused"):
                cleaned = [each for each in ast.walk(call) if _asked(each) == "clean"]
                assert all(each.keywords for each in cleaned), (file, call.lineno)


def printed_bare(source: str) -> Iterator[str]:
    """Somebody's words that a sentence of a command prints as they are, or cleans only with the
    whole sentence."""
    for shown in ast.walk(ast.parse(source)):
        if isinstance(shown, ast.Lambda) or _asked(shown) in PRINTING:
            for each in ast.walk(shown):
                if isinstance(each, ast.FormattedValue):
                    yield from _names(each.value)


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield ast.unparse(node)
    elif not isinstance(node, ast.Call):
        for each in ast.iter_child_nodes(node):
            yield from _names(each)


def _asked(node: ast.AST) -> str:
    """What a node calls; empty: it is no call."""
    called = getattr(node, "func", None)
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def test_no_command_prints_a_name_as_it_is():
    found = {
        (str(file.relative_to(ROOT)), name)
        for file in ROOT.rglob("*.py")
        for name in printed_bare(file.read_text(encoding="utf-8"))
    }
    assert found == EXCEPT.keys()


@pytest.mark.parametrize(
    "source",
    [
        'output.said(f"{found.name} is deleted.")',
        'output.said(output.clean(f"{found.name} is deleted."))',
        'done(lambda found: f"{found.name} is deleted.")',
        'output.warned("x" + f"{found.email or found.id}")',
    ],
)
def test_a_bare_name_is_found(source):
    assert len([*printed_bare(source)]) == 1


def test_a_cleaned_name_is_none():
    assert not [*printed_bare('output.said(f"{output.clean(found.name)}: {found.id}")')]
