"""What CONTRIBUTING says of where things are: each place, test and command is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = {*re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.M)}
SAID = {*re.findall(r"^([a-z][a-z-]*):.*## ", MAKEFILE, re.M)}


def rows() -> Iterator[tuple[str, ...]]:
    """What to change, where to look, its tests, and the command that shows it."""
    table = PAGE.partition("## Where is what")[2].partition("\n## ")[0]
    for line in table.splitlines():
        cells = tuple(each.strip() for each in line.strip("|").split("|"))
        if len(cells) == 4 and cells[0] not in ("To change", "---"):
            yield cells


ROWS = [*rows()]


def code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", re.sub(r"\[[^]]*\]\([^)]*\)", "", text))


def test_the_page_begins_with_it():
    assert PAGE.split("\n## ")[1].startswith("Where is what\n")
    for kind in ("page", "setting", "word that people text", "column", "driver", "field"):
        assert any(kind in row[0] for row in ROWS)
    for kind in ("operation", "feature"):
        assert any(kind in row[0] for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_leads_somewhere(row):
    _, places, tests, command = row
    source = ROOT / "src/risala"
    named = [each for each in code(places) if each != "records.py"]
    assert named or "](#" in places
    assert [each for each in named if not (source / each).exists()] == []
    for each in code(tests):
        place = ROOT / each
        found = [place] if place.is_file() else [*place.glob("**/test_*.py")]
        assert any(one.is_file() for one in found), each
    [command] = code(command)
    assert command.removeprefix("make ") in TARGETS


def test_each_target_is_told_and_no_other():
    named = {*re.findall(r"(?:`|^)make ([a-z][a-z-]*)", PAGE, re.M)}
    assert named <= TARGETS
    assert named >= SAID
