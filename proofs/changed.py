"""``make test CHANGED=1``: the tests that what was changed reaches by imports.

Changed is what differs from the branch ``main`` (``--since`` names another commit), committed or
not. A module reaches those that import it, and a test reaches what it, its ``conftest.py`` files
and its helpers import. What starts the whole service in a process of its own imports little of it:
such tests are run where they were changed themselves, and else by ``make test``.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import grimp

ROOT: Final = Path(__file__).parents[1]
TESTS: Final = ROOT / "tests"
SUPPORT: Final = TESTS / "support"
PACKAGE: Final = "risala"
ALL: Final = ("pyproject.toml", "Makefile", "requirements-dev.lock", "tests/conftest.py")
"""A change of these concerns every test."""
PAGES: Final = (".html", ".po", ".js", ".css", ".svg")
"""Files that no module imports: the pages' tests read them, all of them."""
TEXTS: Final = ("docs", "README.md", "CONTRIBUTING.md", "changes", "examples")


def main() -> int:
    """Print the tests, a file or folder a word."""
    parser = argparse.ArgumentParser(prog="make test CHANGED=1", description=__doc__)
    parser.add_argument("--since", default="main", help="the commit to compare with")
    print(*chosen(changed(parser.parse_args().since)))
    return 0


def changed(since: str) -> set[str]:
    """Paths that differ from a commit, new ones among them."""
    asked = (("diff", "--name-only", since), ("ls-files", "--others", "--exclude-standard"))
    return {line for each in asked for line in _git(*each).splitlines()}


def _git(*words: str) -> str:
    command = ("git", *words)
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def chosen(paths: Iterable[str]) -> list[str]:
    """The tests of what was changed; nothing where no test can see it."""
    paths = set(paths)
    if paths.intersection(ALL):
        return ["tests"]
    found = {"tests/http"} if any(path.endswith(PAGES) for path in paths) else set()
    if any(path.startswith(TEXTS) for path in paths):
        found.add("tests/docs")
    reached = reached_modules(_modules(paths))
    helpers = {path for path in paths if path.startswith("tests/") and path.endswith(".py")}
    if not reached and not helpers:
        return sorted(found)
    for test in sorted(TESTS.glob("**/test_*.py")):
        files = {test, *_around(test)}
        if helpers.intersection(str(each.relative_to(ROOT)) for each in files) or any(
            not reached.isdisjoint(imported(each)) for each in files
        ):
            found.add(str(test.relative_to(ROOT)))
    return sorted(found)


def _modules(paths: Iterable[str]) -> set[str]:
    source = f"src/{PACKAGE}/"
    return {
        path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for path in paths
        if path.startswith(source) and path.endswith(".py")
    }


def reached_modules(modules: set[str]) -> set[str]:
    """These modules, and all that import them directly or through others."""
    if not modules:
        return set()
    graph = _graph()
    there = modules & graph.modules  # a module that was deleted has no importers any more
    return modules.union(*(graph.find_downstream_modules(each) for each in there))


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(PACKAGE, cache_dir=None)


@cache
def imported(path: Path) -> frozenset[str]:
    """Modules of the package that a file imports, and the modules of names that it imports."""
    return frozenset(name for name in _imports(path) if name.split(".")[0] == PACKAGE)


@cache
def _around(test: Path) -> frozenset[Path]:
    """The ``conftest.py`` files above a test but the top one, and the helpers that it rests on."""
    folders = [folder for folder in test.parents if TESTS in folder.parents]
    found = {each for folder in folders if (each := folder / "conftest.py").exists()}
    waiting = [test, *found]
    while waiting:
        for name in _imports(waiting.pop()):
            each = _helper(name)
            if each is not None and each not in found:
                found.add(each)
                waiting.append(each)
    return frozenset(found)


def _helper(name: str) -> Path | None:
    """The file of our own that an import in a test names; None: it is not one of the tests'."""
    tail = Path(*name.split(".")).with_suffix(".py")
    places = (SUPPORT / tail, SUPPORT / "pages" / tail, ROOT / tail)
    return next((each for each in places if each.is_file() and TESTS in each.parents), None)


@cache
def _imports(path: Path) -> tuple[str, ...]:
    return tuple(_names(ast.parse(path.read_text(encoding="utf-8"))))


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


if __name__ == "__main__":
    sys.exit(main())
