"""``make test CHANGED=1``: the tests that a change reaches in two steps of imports, and beside it.

Changed is what differs from the branch ``main`` (``--since`` names another commit), committed or
not. A test is chosen if it

- was changed itself,
- imports what was changed, or a file that does: two steps, where a test counts as importing the
  ``conftest.py`` files above it,
- lies in the folder that mirrors the changed file's, or bears its name,
- names the file by its path or its module, or must miss a guard that stands in it,
- reads all of the source, such as the tests of names.

No step goes through a hub: a file that so many import that each change would run everything. What
is reached only through one, or through more steps, is run by ``make test`` before a change lands.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

from proofs.guards import GUARDS

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = "src/risala/"
FEATURES: Final = "src/risala/engine/features/"
HUB_IMPORTERS: Final = 70
"""Files, of some 2,000. Of the modules, 3 % have more: records, errors, the clock, the settings."""
EVERYTHING: Final = frozenset(
    ("pyproject.toml", "Makefile", "requirements-dev.lock", "tests/conftest.py")
)
"""A change of these concerns every test."""
PAGES: Final = (".html", ".po", ".js", ".css", ".svg")
"""Files that no module imports: the tests of pages read them."""
TEXTS: Final = ("docs/", "README", "CONTRIBUTING.md", "changes/", "examples/")
READS_THE_SOURCE: Final = re.compile(r'^from sources import|\*\*/\*\.(py|html)"', re.M)
READERS: Final = (
    "tests/cli/test_imports.py",
    "tests/proofs/test_budgets.py",
    "tests/proofs/test_guards.py",
)
"""They read all of the source too, but by others' hands."""
GENERAL: Final = frozenset(
    [
        "__init__",
        "__main__",
        "app",
        "feature",
        "model",
        "one",
        "operations",
        "records",
        "rules",
        "service",
        "stored",
        "words",
    ]
)
"""Names of files that say nothing of a test's subject."""

ALL: Final = "use what was changed, as all do"
CHANGED: Final = "were changed"
IMPORTS: Final = "import what was changed"
IN_TWO: Final = "import a file that imports it"
BESIDE: Final = "lie beside it or bear its name"
NAMES_IT: Final = "name it, or miss its guards"
READS_ALL: Final = "read the whole source"
PAGE: Final = "look at pages"
TEXT: Final = "look at texts"
WHY: Final = (ALL, CHANGED, IMPORTS, IN_TWO, BESIDE, NAMES_IT, READS_ALL, PAGE, TEXT)


@dataclass(slots=True)
class Choice:
    """Which tests a change needs, and why."""

    why: dict[str, str] = field(default_factory=dict)
    """Of each chosen file, the first reason that was met."""
    hubs: dict[str, int] = field(default_factory=dict)
    """Files on the way through which nothing was chosen; how many files import each."""

    def add(self, tests: Iterable[str], reason: str) -> None:
        for test in tests:
            self.why.setdefault(test, reason)


def main() -> int:
    """Print the tests, a file a word, and how they were chosen beside it."""
    parser = argparse.ArgumentParser(prog="make test CHANGED=1", description=__doc__)
    parser.add_argument("--since", default="main", help="the commit to compare with")
    parser.add_argument("--why", action="store_true", help="a line a test, with the reason")
    arguments = parser.parse_args()
    choice = chosen(changed(arguments.since))
    print(*told(choice, len(_tests())), sep="\n", file=sys.stderr)
    if arguments.why:
        print(*(f"{test}: {reason}" for test, reason in sorted(choice.why.items())), sep="\n")
    else:
        print(*(["tests"] if ALL in choice.why.values() else sorted(choice.why)))
    return 0


def told(choice: Choice, files: int) -> Iterator[str]:
    """How many of how many files were chosen, and why."""
    reasons = list(choice.why.values())
    counted = [f"{reasons.count(each)} {each}" for each in WHY if each in reasons]
    yield f"{len(reasons)} of {files} test files" + (f": {', '.join(counted)}." if counted else ".")
    if choice.hubs:
        most = sorted(choice.hubs.items(), key=lambda each: (-each[1], each[0]))
        named = ", ".join(f"{name} (imported by {count} files)" for name, count in most[:3])
        more = f" and {len(most) - 3} more" if len(most) > 3 else ""
        yield f"Not followed: {named}{more}."
    yield "Run all of `make test` before the change lands."


def changed(since: str) -> set[str]:
    """Paths that differ from a commit, new ones among them."""
    asked = (("diff", "--name-only", since), ("ls-files", "--others", "--exclude-standard"))
    return {line for each in asked for line in _git(*each).splitlines()}


def _git(*words: str) -> str:
    command = ("git", *words)
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def chosen(paths: Iterable[str]) -> Choice:
    """The tests of what was changed; none where no test can see it."""
    paths = sorted(paths)
    choice = Choice()
    if EVERYTHING.intersection(paths):
        choice.add(_tests(), ALL)
        return choice
    choice.add(set(_tests()).intersection(paths), CHANGED)
    code = [path for path in paths if path.endswith(".py")]
    if code:
        _follow(code, choice)
    source = [path for path in paths if path.startswith(SOURCE)]
    for path in source:
        choice.add(_beside(path), BESIDE)
    for path in paths:
        if not path.startswith("tests/"):
            choice.add(_alike(path), BESIDE)
            choice.add(_naming(path), NAMES_IT)
    if source:
        choice.add(_readers(), READS_ALL)
        choice.add((test for each in READERS for test in _below(each)), READS_ALL)
    if any(path.endswith(PAGES) for path in source):
        choice.add(_below("tests/http/web"), PAGE)
    if any(path.startswith(TEXTS) for path in paths):
        choice.add(_below("tests/docs"), TEXT)
    return choice


def _follow(code: Iterable[str], choice: Choice) -> None:
    """Choose what imports these files, in as many steps as there are reasons."""
    importers = _importers()
    reached = frontier = set(code)
    for reason in (IMPORTS, IN_TWO):
        hubs = {each for each in frontier if len(importers[each]) > HUB_IMPORTERS}
        choice.hubs.update((each, len(importers[each])) for each in hubs)
        frontier = {one for each in frontier - hubs for one in importers[each]} - reached
        reached = reached | frontier
        choice.add(frontier.intersection(_tests()), reason)


def _beside(path: str) -> Iterator[str]:
    """Tests in the folder that mirrors a file's, or in the next one above; all of a feature's."""
    place = path.removeprefix(SOURCE)
    if path.startswith(FEATURES):
        feature = "/".join(place.split("/")[:3]).removesuffix(".py")
        yield from _below(f"tests/{feature}")
    folders = (f"tests/{each}" for each in Path(place).parents if each.name)
    mirrors = ([test for test in _tests() if test.rpartition("/")[0] == each] for each in folders)
    yield from next((each for each in mirrors if each), ())


def _alike(path: str) -> Iterator[str]:
    """Tests that bear a file's name, wherever they lie: of a page, a command, the API."""
    name = Path(path).stem
    if name not in GENERAL:
        bears = re.compile(rf"(^|_){re.escape(name)}(_|$)").search
        yield from (test for test in _tests() if bears(Path(test).stem.removeprefix("test_")))


def _naming(path: str) -> Iterator[str]:
    """Tests whose text has a file's path or its module's name, and those of the guards in it."""
    place = path.removeprefix(SOURCE)
    module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    names = [place, *([module.replace("/", ".")] if path.endswith(".py") and "/" in module else [])]
    says = re.compile("|".join(rf"(?<![\w/.]){re.escape(each)}(?![\w.])" for each in names)).search
    for test in _tests():
        lines = _text(test).splitlines() if any(each in _text(test) for each in names) else []
        if any(says(line) for line in lines if not line.startswith(("import ", "from "))):
            yield test
    for guard in GUARDS:
        if guard.file == place:
            for each in guard.tests:
                yield from _below(f"tests/{each}")


def _below(place: str) -> Iterator[str]:
    """A test, or all that lie below a folder."""
    return (test for test in _tests() if test == place or test.startswith(f"{place}/"))


@cache
def _tests() -> tuple[str, ...]:
    return tuple(path for path in _python("tests") if Path(path).name.startswith("test_"))


@cache
def _readers() -> tuple[str, ...]:
    return tuple(test for test in _tests() if READS_THE_SOURCE.search(_text(test)))


@cache
def _python(folder: str) -> tuple[str, ...]:
    """Files of Python, from the root of the repository."""
    return tuple(sorted(str(each.relative_to(ROOT)) for each in (ROOT / folder).glob("**/*.py")))


@cache
def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def _importers() -> Mapping[str, set[str]]:
    """Of each file of ours, those that import it. A test imports the ``conftest.py`` above it."""
    files = [*_python("src"), *_python("tests"), *_python("proofs"), *_python("deploy")]
    known = set(files)
    found: dict[str, set[str]] = defaultdict(set)
    for path in files:
        for name in set(_imported(path)):
            for each in _places(name):
                if each in known and each != path:
                    found[each].add(path)
        if path.startswith("tests/"):
            for folder in Path(path).parents:
                if (each := f"{folder}/conftest.py") in known and each != path:
                    found[each].add(path)
    return found


def _places(name: str) -> Iterator[str]:
    """Where the module of a name would lie."""
    tail = name.replace(".", "/")
    for root in ("src/", "tests/support/", "tests/support/pages/", ""):
        yield f"{root}{tail}.py"
        yield f"{root}{tail}/__init__.py"


def _imported(path: str) -> Iterator[str]:
    for node in _statements(ast.parse(_text(path))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements, however deep; what expressions have imports nothing."""
    todo = [tree]
    while todo:
        each = todo.pop()
        yield each
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(each, block, ())
            if isinstance(inner, list):
                todo += inner


if __name__ == "__main__":
    sys.exit(main())
