"""Sources, parsed: for tests that look at all of them."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Iterable, Iterator
from pathlib import Path


def trees(paths: Iterable[Path], saying: str = "") -> Iterator[tuple[Path, ast.Module]]:
    """Each file whose text has the pattern, parsed: the others have nothing that is looked for, and
    take no time."""
    is_said = re.compile(saying).search
    was_on = gc.isenabled()
    # Some hundred thousand nodes are made for each look, and no garbage: to look for some among
    # them takes three times as long as to make them.
    gc.disable()
    try:
        for path in paths:
            text = path.read_text(encoding="utf-8")
            if is_said(text):
                yield path, ast.parse(text)
    finally:
        if was_on:
            gc.enable()


def statements_of(tree: ast.Module) -> Iterator[ast.AST]:
    """Each statement, however deep, and no expression: those are most of what a tree has."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        yield node
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):  # of a lambda it is an expression
                left += inner
