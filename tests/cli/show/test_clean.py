"""What others wrote, on a terminal."""

from __future__ import annotations

import sys

import pytest

from risala.cli.show import output


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
