"""The threat model names files and tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/reference/threat-model.md").read_text("utf-8")
TESTS = re.findall(r"`(tests/[\w/.-]+?)(?:::(\w+))?`", TEXT)
FILES = re.findall(r"`((?:http|engine|app)/[\w/]+\.py)`", TEXT)
PLAIN = {"a plugin's author": "it runs in the process"}
"""Who is stopped by nothing, and what the page says of it."""


def test_each_test_that_is_named_is_there():
    assert len(TESTS) > 50
    for path, name in TESTS:
        place = ROOT / path
        assert place.exists(), path
        if name:
            assert re.search(rf"def {name}\b", place.read_text("utf-8")), f"{path}::{name}"


def test_each_file_that_is_named_is_there():
    assert len(FILES) > 2
    for path in FILES:
        assert (ROOT / "src/risala" / path).is_file(), path


def test_nobody_is_stopped_by_words_alone():
    """Each row about an attack names a test, or is one of those that the page owns up to."""
    tables = re.split(r"\n(?!\|)", TEXT)
    lists = [each for each in tables if "Stopped by" in each.strip().partition("\n")[0]]
    attacks = [row for each in lists for row in each.strip().splitlines()[2:]]
    assert len(attacks) > 40
    for row in attacks:
        owned = [why for who, why in PLAIN.items() if who in row and why in row]
        assert "`tests/" in row or "`make timing`" in row or owned, row


def test_each_kind_of_attacker_has_what_remains():
    parts = re.split(r"^## ", TEXT, flags=re.M)[2:-1]
    assert len(parts) > 6
    assert all("\nRemains: " in part for part in parts)
