"""The answers to OWASP ASVS name tests and pages that there are, and count themselves right."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs/reference/asvs.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if re.match(r"\| V\d", line)
]
ANSWERS = {"met", "partly", "not met", "not here"}
REQUIREMENTS = 253
"""Of levels 1 and 2 of ASVS 5.0.0."""


def test_each_requirement_has_one_answer():
    numbers = [row[0] for row in ROWS]
    assert len(set(numbers)) == len(numbers) == REQUIREMENTS
    assert {row[2] for row in ROWS} <= ANSWERS
    assert all(len(row) == 4 and row[1] and row[3] for row in ROWS)


def test_the_counts_are_right():
    counted = Counter(row[2] for row in ROWS)
    told = re.search(
        r"Of (\d+) requirements (\d+) are met, (\d+) partly and (\d+) not; (\d+) are about", TEXT
    )
    assert told is not None
    expected = (REQUIREMENTS, *(counted[each] for each in ("met", "partly", "not met", "not here")))
    assert tuple(map(int, told.groups())) == expected


def test_each_named_test_is_there():
    named = re.findall(r"`(tests/[\w/.-]+?)(?:::(\w+))?`", TEXT)
    assert len(named) > 100
    for path, name in named:
        place = ROOT / path
        assert place.exists(), path
        if name:
            assert re.search(rf"def {name}\b", place.read_text("utf-8")), f"{path}::{name}"
