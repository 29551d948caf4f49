"""Each test that the page of findings names is there, and those of kinds have many inputs."""

from __future__ import annotations

import re
from functools import cache, reduce
from importlib.util import module_from_spec, spec_from_file_location
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Final

from cases import sweep

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/discussion/what-third-parties-found.md").read_text()
ROWS = re.findall(r"^\| (\d+) \|(.*)\|$", PAGE, re.MULTILINE)
KINDS = re.findall(
    r"^\| (.+?) \| (.+) \|$",
    PAGE.partition("### Each kind, and the inputs that hold it")[2].partition("\n## ")[0],
    re.MULTILINE,
)[1:]
INPUTS_MIN: Final = 10
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
    assert len(KINDS) >= INPUTS_MIN


@sweep(("kind", "held"), KINDS)
def test_a_kind_is_held_by_many_inputs(kind, held):
    named = _NAMED.findall(held)
    assert named
    for path, name in named:
        assert inputs(path, name) >= INPUTS_MIN, (path, name)
