"""Each test that the appendix of findings names is there, and those of kinds have many inputs."""

from __future__ import annotations

import re
from functools import cache, reduce
from importlib.util import module_from_spec, spec_from_file_location
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Final

from proofs.findings import PAGE, render, rounds

from cases import sweep

ROOT = Path(__file__).parents[2]
ROUNDS = rounds()
NEWEST = ROUNDS[0]
FINDINGS = [row for each in ROUNDS for row in (*each.findings, *each.attacks)]
INPUTS_MIN: Final = 10


def test_the_page_is_what_the_files_say():
    assert PAGE.read_text("utf-8") == render(), "`make generated` writes it"


@sweep("each", ROUNDS, named=lambda each: each.title)
def test_every_finding_has_a_row(each):
    numbers = {row["number"] for row in NEWEST.findings}
    assert numbers == {*range(1, max(numbers) + 1)}
    assert each.findings


@sweep("row", FINDINGS)
def test_a_finding_is_held_by_tests_that_exist(row):
    assert row["tests"]
    for test in row["tests"]:
        path, _, name = test.partition("::")
        wanted = rf"\b(def|class) {name.rpartition(':')[2]}\b"
        assert re.search(wanted, (ROOT / path).read_text()), test


@cache
def _module(path: str) -> ModuleType:
    spec = spec_from_file_location(path.removesuffix(".py").replace("/", "."), ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs(path: str, name: str) -> int:
    """How many inputs a test has: of its marks together, or of its sweep."""
    test = reduce(getattr, name.split("::"), _module(path))
    marks = [each for each in getattr(test, "pytestmark", ()) if each.name == "parametrize"]
    return prod(len([*each.args[1]]) for each in marks) * getattr(test, "cases", 1)


def test_kinds_are_told():
    assert len(NEWEST.kinds) >= INPUTS_MIN


@sweep("row", NEWEST.kinds)
def test_a_kind_is_held_by_many_inputs(row):
    assert row["tests"]
    for test in row["tests"]:
        path, _, name = test.partition("::")
        assert inputs(path, name) >= INPUTS_MIN, test
