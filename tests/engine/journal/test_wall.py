"""What other rooms import of a module that has SQL and its repository: the repository, and types.

Of modules that have SQL alone they import nothing, which import-linter proves.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sources import trees

SOURCE = Path(__file__).parents[3] / "src"
WITHIN = re.compile(r"risala\.engine\.(journal(\.|$)|features\.\w+\.stored)")
"""Who is behind the wall: the journal, and what features store."""
OF_A_CLOSED_FILE = {
    "risala.engine.features.doctor.machine",
}
"""These read a database that no engine has open."""


def module_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").as_posix().replace("/", ".")


def types_of(tree: ast.Module) -> set[str]:
    """Classes, and other names of types, that a module defines."""
    classes = {each.name for each in tree.body if isinstance(each, ast.ClassDef)}
    aliases = {
        target.id
        for each in tree.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Subscript)
        for target in each.targets
        if isinstance(target, ast.Name)
    }
    return classes | aliases


def modules() -> dict[str, ast.Module]:
    return {
        module_of(path): tree
        for path, tree in trees(sorted(SOURCE.rglob("*.py")), r"journal|stored|Repository")
    }


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Where each imported name is from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from ((node.module, each.name) for each in node.names)


@pytest.mark.slow
def test_beside_sql_only_repositories_and_types_are_seen_by_others():
    known = modules()
    both = {
        name: types_of(tree)
        for name, tree in known.items()
        if WITHIN.match(name) and any(each.endswith("Repository") for each in types_of(tree))
    }
    assert both
    seen = {
        f"{name}: {module}.{imported}"
        for name, tree in known.items()
        if not WITHIN.match(name) and name not in OF_A_CLOSED_FILE
        for module, imported in imports(tree)
        if f"{module}.{imported}" in both or (module in both and imported not in both[module])
    }
    assert not seen
