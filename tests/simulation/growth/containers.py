"""What in the source can grow: containers that objects and modules keep, found by reading it.

Whoever adds one adds a line to ``bounds.txt`` that says what keeps it small.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "src/risala"
ROOMS = ("engine", "http", "smpp_server", "drivers", "sms", "plugins/manager.py")
"""Of the service: what a command, a client or the laboratory keeps is gone with it."""
MAKERS = {
    "dict",
    "list",
    "set",
    "deque",
    "OrderedDict",
    "defaultdict",
    "Counter",
    "SimpleQueue",
    "bytearray",
    "open_memory_channel",
    "WeakKeyDictionary",
    "WeakValueDictionary",
}


def containers() -> Iterator[str]:
    """``engine/limits/limits.py Limits._histories``, say; each once."""
    found = set()
    for room in ROOMS:
        at = SOURCE / room
        for path in sorted(at.rglob("*.py")) if at.is_dir() else [at]:
            tree = ast.parse(path.read_text("utf-8"))
            for name in _kept(tree):
                found.add(f"{path.relative_to(SOURCE)} {name}")
    yield from sorted(found)


def _kept(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for each in ast.walk(node):
                if (attribute := _of_self(each)) is not None:
                    yield f"{node.name}.{attribute}"
            for each in node.body:
                if isinstance(each, ast.AnnAssign) and _is_factory(each.value):
                    yield f"{node.name}.{ast.unparse(each.target)}"
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if "lru_cache" in ast.unparse(decorator) or ast.unparse(decorator) == "cache":
                    yield f"@{node.name}"
        elif isinstance(node, ast.Assign | ast.AnnAssign) and _grows(node.value):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            yield ast.unparse(target)


def _of_self(node: ast.AST) -> str | None:
    """The attribute that is given an empty container; None: it is something else."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not _grows(node.value):
        return None
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        for each in ast.walk(target):
            if (
                isinstance(each, ast.Attribute)
                and isinstance(each.value, ast.Name)
                and each.value.id == "self"
            ):
                return each.attr
    return None


def _grows(value: ast.expr | None) -> bool:
    """Whether this is a container with nothing in it yet, or one that fills up."""
    if isinstance(value, ast.Dict | ast.List):
        return not (value.keys if isinstance(value, ast.Dict) else value.elts)
    if isinstance(value, ast.Constant):
        return value.value == b""  # octets that are gathered
    return _name(value) in MAKERS


def _is_factory(value: ast.expr | None) -> bool:
    if not isinstance(value, ast.Call) or _name(value) != "field":
        return False
    factories = [each.value for each in value.keywords if each.arg == "default_factory"]
    return any(ast.unparse(each).rpartition(".")[2] in MAKERS for each in factories)


def _name(value: ast.expr | None) -> str:
    """Whose call it is, without the module and the types in brackets."""
    if not isinstance(value, ast.Call):
        return ""
    what = value.func.value if isinstance(value.func, ast.Subscript) else value.func
    return ast.unparse(what).rpartition(".")[2]
