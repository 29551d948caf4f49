"""How tests wait: what CONTRIBUTING says of it holds for every one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sources import statements_of, trees

TESTS = Path(__file__).parents[1]
FILES = sorted(path for path in TESTS.glob("**/*.py") if "node_modules" not in path.parts)
VIRTUAL = {"autojump_clock", "mock_clock", "quick", "clock"}
"""Fixtures under which no real time passes: there a limit may be a measure."""
WAITS = {"fail_after", "wait", "join", "communicate", "run", "create_connection"}
LIMITS = {"timeout", "seconds"}


def is_small(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def own_limits(function: ast.AST) -> Iterator[ast.Call]:
    """Calls that wait, with a number of their own as the limit."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "fail_after" and node.args and is_small(node.args[0]):
            yield node
        elif node.func.attr in WAITS:
            named = [each for each in node.keywords if each.arg in LIMITS]
            if any(is_small(each.value) for each in named):
                yield node


MAY_BE_A_LIMIT = r"fail_after\(\s*[\d.+-]|(?:timeout|seconds)\s*=\s*[\d.+-]"


def faults(path: Path, tree: ast.Module) -> list[str]:
    is_virtual: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {argument.arg for argument in node.args.args}
            if names & VIRTUAL:
                is_virtual |= {*ast.walk(node)}
    return [
        f"{path.relative_to(TESTS)}:{call.lineno}: {ast.unparse(call)}"
        for call in own_limits(tree)
        if call not in is_virtual
    ]


def test_limits_of_real_time_are_the_one_guard_against_hangs():
    """Use ``HANG_S`` of ``tests/support/patience.py``."""
    looked_at = trees(FILES, MAY_BE_A_LIMIT)
    assert [fault for path, tree in looked_at for fault in faults(path, tree)] == []


def test_a_limit_of_its_own_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "TESTS", tmp_path)
    path = tmp_path / "test_it.py"
    path.write_text(
        "async def test_a():\n    with trio.fail_after(5):\n        pass\n"
        "async def test_b(autojump_clock):\n    with trio.fail_after(5):\n        pass\n"
        "def test_c(p):\n    p.communicate(timeout=10)\n    p.communicate(timeout=HANG_S)\n"
    )
    found = [fault for _, tree in trees([path], MAY_BE_A_LIMIT) for fault in faults(path, tree)]
    assert {fault.split(":")[1] for fault in found} == {"2", "8"}


CLOCKS = {"autojump_clock", "mock_clock"}


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    given = function.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


class Fixtures:
    """Those that a file of tests can take, its own and those of the folders above it."""

    def __init__(self, trees: list[ast.Module]) -> None:
        self._known: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.automatic: set[str] = set()
        for node in (node for tree in trees for node in tree.body):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            marks = [ast.unparse(mark) for mark in node.decorator_list]
            if any(mark.startswith("pytest.fixture") for mark in marks):
                self._known[node.name] = node
                if any("autouse=True" in mark for mark in marks):
                    self.automatic.add(node.name)

    def rest_on_a_clock(self, name: str) -> bool:
        if name in CLOCKS or name not in self._known:
            return name in CLOCKS
        others = [each for each in parameters(self._known[name]) if each != name]
        return any(map(self.rest_on_a_clock, others))

    def are_a_clock(self, name: str) -> bool:
        """Whether the fixture hands on the clock itself."""
        if name in CLOCKS or name not in self._known:
            return name in CLOCKS
        function = self._known[name]
        handed = {
            node.value.id
            for node in ast.walk(function)
            if isinstance(node, ast.Return | ast.Yield) and isinstance(node.value, ast.Name)
        }
        return any(self.are_a_clock(each) for each in handed & {*parameters(function)} - {name})


@cache
def shared_by(folder: Path) -> list[ast.Module]:
    """The fixtures of a folder of tests, and of those above it."""
    above = shared_by(folder.parent) if folder != TESTS else []
    file = folder / "conftest.py"
    return [*above, *(tree for _, tree in trees([file] if file.exists() else []))]


def clockless(path: Path, tree: ast.Module) -> Iterator[str]:
    """Tests whose fixtures rest on a mock clock that the test itself is not given."""
    fixtures = Fixtures([*shared_by(path.parent), tree])
    for node in statements_of(tree):
        if not isinstance(node, ast.AsyncFunctionDef) or not node.name.startswith("test_"):
            continue
        given = parameters(node)
        rests = any(map(fixtures.rest_on_a_clock, (*given, *fixtures.automatic)))
        if rests and not any(map(fixtures.are_a_clock, given)):
            yield f"{path.relative_to(TESTS)}:{node.lineno}: {node.name}"


def test_a_test_is_given_the_clock_that_its_fixtures_rest_on():
    """pytest-trio looks for a clock among what the test itself takes: name it there, too. Behind a
    fixture it is none, and what was meant to be jumped over is slept through."""
    files = [path for path in FILES if path.name.startswith("test_")]
    looked_at = trees(files, r"\basync def test_")
    assert [fault for path, tree in looked_at for fault in clockless(path, tree)] == []


def test_a_clock_behind_a_fixture_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "TESTS", tmp_path)
    (tmp_path / "conftest.py").write_text(
        "@pytest.fixture\ndef quick(autojump_clock):\n    return autojump_clock\n"
        "@pytest.fixture\nasync def house(quick):\n    yield House()\n"
    )
    path = tmp_path / "test_it.py"
    path.write_text(
        "async def test_a(house):\n    pass\n"
        "async def test_b(house, quick):\n    pass\n"
        "async def test_c(quick):\n    pass\n"
        "async def test_d(tmp_path):\n    pass\n"
    )
    [(_, tree)] = trees([path])
    assert [*clockless(path, tree)] == ["test_it.py:1: test_a"]
