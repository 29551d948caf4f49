"""How tests wait: what CONTRIBUTING says of it holds for every one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

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


def faults(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
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
    assert [fault for path in FILES for fault in faults(path)] == []


def test_a_limit_of_its_own_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "TESTS", tmp_path)
    path = tmp_path / "test_it.py"
    path.write_text(
        "async def test_a():\n    with trio.fail_after(5):\n        pass\n"
        "async def test_b(autojump_clock):\n    with trio.fail_after(5):\n        pass\n"
        "def test_c(p):\n    p.communicate(timeout=10)\n    p.communicate(timeout=HANG_S)\n"
    )
    assert {fault.split(":")[1] for fault in faults(path)} == {"2", "8"}
