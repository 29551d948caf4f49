"""How parts are put together: what CONTRIBUTING says of it holds for all of the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sources import trees

SOURCE = Path(__file__).parents[2] / "src/risala"
FILES = sorted(SOURCE.glob("**/*.py"))
BUILDERS = [
    *sorted((SOURCE / "app").glob("*.py")),
    *(SOURCE / "engine/wiring" / f"{name}.py" for name in ("engine", "gateway", "connections")),
    *(SOURCE / "engine" / name for name in ("gateway/gateway.py", "services.py")),
]
"""Those that put parts together."""
SET = {
    "app/logs.py: _Level.number": "the level may change while the service runs",
    "app/stop.py: watchdog.daemon": "the standard library's timer has no argument for it",
    "app/tracebacks.py: sys.excepthook": "the interpreter's own hook",
    "app/tracebacks.py: sys.unraisablehook": "the interpreter's own hook",
}
"""What is set on something that is there already, and why."""


def has_lambda(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Lambda)


def lambdas(tree: ast.AST) -> Iterator[int]:
    """Lines on which a lambda is what an argument or an attribute is unless told otherwise."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            given = [*node.args.defaults, *node.args.kw_defaults]
            yield from (each.lineno for each in given if each is not None and has_lambda(each))
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.Assign | ast.AnnAssign):
                    value = each.value
                    if isinstance(value, ast.Call):  # field(default=…); a default_factory is fine
                        told = {word.arg: word.value for word in value.keywords}
                        value = told.get("default")
                    if has_lambda(value):
                        yield each.lineno


def assigned(tree: ast.AST) -> Iterator[ast.Attribute]:
    """Attributes that are set on something else than the object itself."""
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign | ast.AugAssign):
            targets = [node.target]
        for target in targets:
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(each, ast.Attribute) and ast.unparse(each.value) != "self":
                    yield each


def test_nothing_is_a_lambda_unless_told_otherwise():
    """A name says what happens where nobody was named; a traceback shows it."""
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path, tree in trees(FILES, r"\blambda\b")
        for line in lambdas(tree)
    ]
    assert found == []


def test_parts_are_built_whole():
    """Who builds a part hands it all that it needs; later it is told by a method."""
    found = {
        f"{path.relative_to(SOURCE)}: {ast.unparse(each)}"
        for path, tree in trees(BUILDERS)
        for each in assigned(tree)
    }
    assert found == {*SET}


def test_each_is_noticed():
    code = """
def one(a=1, tell=lambda: None, *, hear=lambda _: None): ...
class Two:
    three: Callable[[], None] = lambda: None
    four: Callable[[], None] = field(default=lambda: None)
    five: dict[str, int] = field(default_factory=lambda: {"a": 1})
def six(part):
    part.seven = 8
    part.nine.ten, other = 1, 2
    part.count += 1
"""
    tree = ast.parse(code)
    assert sorted(lambdas(tree)) == [2, 2, 4, 5]
    assert [ast.unparse(each) for each in assigned(tree)] == [
        "part.seven",
        "part.nine.ten",
        "part.count",
    ]
