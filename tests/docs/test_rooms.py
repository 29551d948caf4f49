"""The pages that tell a stranger where things are say the same as the tree."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src/risala"
ARCHITECTURE = ROOT / "docs/discussion/architecture.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
TEMPLATE_COLUMNS = 120
PAGES = [ARCHITECTURE, CONTRIBUTING, *sorted((ROOT / "docs/decisions").glob("*.md"))]


def rooms() -> set[str]:
    """Folders under the package, two levels deep: files of ours that lie deeper count for them."""
    files = [path.relative_to(SOURCE) for path in SOURCE.glob("**/*") if path.is_file()]
    parents = [path.parent.parts for path in files if "__pycache__" not in path.parts]
    return {"/".join(parts[:depth]) for parts in parents for depth in (1, 2) if parts}


def listed() -> Iterator[str]:
    """The rooms as the page lists them: two spaces of indent for a room, four for one inside it."""
    block = re.search(r"```text\nsrc/risala/\n(.*?)```", CONTRIBUTING.read_text(), re.DOTALL)
    assert block is not None
    outer = ""
    for line in block[1].splitlines():
        indent, name = re.match(r"( +)(\w+)/ +\S", line).groups()
        if len(indent) == 2:
            outer = name
        yield name if len(indent) == 2 else f"{outer}/{name}"


def test_the_list_of_rooms_is_that_of_the_tree():
    names = [*listed()]
    assert sorted(names) == sorted(rooms())


def test_lines_of_templates_fit_a_screen():
    long = [
        f"{path.relative_to(SOURCE)}:{number}"
        for path in sorted(SOURCE.glob("**/*.html"))
        if "vendor" not in path.parts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > TEMPLATE_COLUMNS
    ]
    assert long == [], f"these have more than {TEMPLATE_COLUMNS} columns"


def test_the_pure_folders_are_those_that_are_proved():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    [pure] = [each for each in contracts["contracts"] if each["name"].startswith("Pure by folder")]
    proved = {name.removeprefix("risala.").replace(".", "/") for name in pure["source_modules"]}
    line = re.search(r"^- Pure by folder, .*?(?=^- )", CONTRIBUTING.read_text(), re.M | re.S)
    assert line is not None
    assert {*re.findall(r"`([\w/]+)`", line[0])} == proved


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_that_a_page_names_are_there(page: Path):
    """A path in backticks is one from the root of the repository, or from that of the package."""
    named = re.findall(r"`([\w.-]+/[\w./-]+\.(?:py|md|toml))`", page.read_text())
    gone = [name for name in named if not (ROOT / name).exists() and not (SOURCE / name).exists()]
    assert gone == []


def test_tests_lie_where_their_rooms_do():
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests) for path in tests.glob("**/test_*.py")}
    of_rooms = {each for each in folders if (SOURCE / each.parts[0]).is_dir()}
    strangers = {str(each) for each in of_rooms if not any((SOURCE / each).glob("*.py"))}
    assert strangers == {"http/api/verify"}, "those of one file of the room may have their folder"
