"""One of a thing is told in the singular, by every command."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

import risala.cli
from risala.cli.show import output

_CLI = Path(risala.cli.__file__).parent
_MANY = re.compile(r" (?:[a-z]+ )?(?!is\b|has\b|was\b|does\b|reads\b|ms\b)([a-z]{2,}s|\w+\(s\))\b")
_VERBS = {
    "becomes",
    "belongs",
    "costs",
    "dismissed",
    "exists",
    "gets",
    "goes",
    "holds",
    "is",
    "knows",
    "leads",
    "leaves",
    "sees",
    "sends",
    "this",
    "wants",
    "works",
}
"""Words on an s that are no plural, as they stand after a name in sentences of today."""


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (output.counted(1, "fault"), "1 fault"),
        (output.counted(0, "fault"), "0 faults"),
        (output.counted(2, "entry is", "entries are"), "2 entries are"),
        (output.counted(1, "entry is", "entries are"), "1 entry is"),
    ],
)
def test_one_and_many(said, told):
    assert said == told


def _told_as_many(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for value, rest in itertools.pairwise(parts):
            if not isinstance(value, ast.FormattedValue) or not isinstance(rest, ast.Constant):
                continue
            number = ast.unparse(value.value)
            noun = _MANY.match(str(rest.value))
            if noun and noun[1] not in _VERBS and not number.isupper():
                found.append(f"{path.name}: {number} {noun[1]}")
    return found


def test_no_command_puts_a_plural_behind_a_number_by_hand():
    assert [each for path in sorted(_CLI.rglob("*.py")) for each in _told_as_many(path)] == []
