"""Each test that the page of findings names is there."""

from __future__ import annotations

import re
from pathlib import Path

from cases import sweep

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/discussion/what-third-parties-found.md").read_text()
ROWS = re.findall(r"^\| (\d+) \|(.*)\|$", PAGE, re.MULTILINE)
_NAMED = re.compile(r"`(tests/[\w/.-]+\.py)::([\w:]+)")


def test_every_finding_has_a_row():
    numbers = {int(number) for number, _ in ROWS}
    assert numbers == {*range(1, max(numbers) + 1)}


@sweep(("number", "row"), ROWS)
def test_a_finding_is_held_by_tests_that_exist(number, row):
    named = _NAMED.findall(row)
    assert named
    for path, name in named:
        wanted = rf"\b(def|class) {name.rpartition(':')[2]}\b"
        assert re.search(wanted, (ROOT / path).read_text()), (path, name)
