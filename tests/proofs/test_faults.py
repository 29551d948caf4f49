"""The table of faults, its page and its tests say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from proofs.faults import page
from proofs.faults.elsewhere import ELSEWHERE
from proofs.faults.row import Fault, fits
from proofs.faults.rows import FAULTS

TESTS = Path(__file__).parents[1] / "flows/faults"
ROWS = [each for group in FAULTS.values() for each in group]


def test_the_page_is_made_of_the_table():
    text = page.PAGE.read_text("utf-8")
    assert page.written(text) == text, "run `make faults`"


def test_each_fault_is_made_by_one_test():
    source = "\n".join(path.read_text("utf-8") for path in sorted(TESTS.glob("test_*.py")))
    names = [each.name for each in ROWS]
    assert len(names) == len(set(names))
    assert [name for name in names if source.count(f'"{name}"') != 1] == []
    assert set(re.findall(r'trial\("([a-z0-9_]+)"', source)) <= set(names)


def test_each_says_what_is_seen_and_what_to_do():
    for row in ROWS:
        assert row.sees, row.name
        assert all((row.title, row.made, row.back, row.do)), row.name


@pytest.mark.parametrize("shown", [each.test for each in ELSEWHERE])
def test_what_others_show_is_there(shown):
    path, name = shown.split("::")
    assert f"def {name}(" in (page.PAGE.parents[2] / path).read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "is_it"), [("a 1 b", True), ("a\n2\nb", True), ("a 1 b.", False), ("a", False)]
)
def test_a_gap_holds_anything_and_nothing_else_does(text, is_it):
    assert fits("a…b", text) == is_it


def test_what_is_not_declared_is_not_expected():
    row = Fault("x", "X", "made", {"API": ("200", "503 …")}, "back", "do")
    assert row.expects("API", "503 NO") == "503 …"
    assert row.expects("API", "500 NO") is None
    assert row.expects("log", "200") is None
