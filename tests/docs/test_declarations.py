"""Faces read answers by their types, JSON follows from records (decision 21), and frozen
dataclasses of the engine are the cheap ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sources import trees

SOURCE = Path(__file__).parents[2] / "src/risala"
FACES = ("cli", "http/dashboard", "http/operator", "http/web", "http/api")
BY_TEXT_MAX = 114
"""What is left are form fields, parts of addresses and tables of a face's own. It only shrinks."""
BY_HAND_MAX = 8
"""Functions that write JSON which is not the record's own. It only shrinks."""


def subscripts(tree: ast.AST) -> Iterator[ast.Subscript]:
    """Values that are read by a text."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            yield node


def test_faces_read_answers_by_their_types():
    """Ask by an ``Ask``: ``(await request.ask(keys.SHOW, …)).name``, not ``…["name"]``."""
    found = [
        f"{path.relative_to(SOURCE)}:{each.lineno}: {ast.unparse(each)}"
        for face in FACES
        for path, tree in trees(sorted((SOURCE / face).glob("**/*.py")), r"""\[\s*[frub]*["']""")
        for each in subscripts(tree)
    ]
    assert len(found) <= BY_TEXT_MAX, found


def test_json_follows_from_records():
    """Declare a record: its JSON is derived (``engine/model/records/record.py``)."""
    found = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path, tree in trees(sorted(SOURCE.glob("**/*.py")), r"def \w*_wire\b")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name.endswith("_wire")
    ]
    assert len(found) <= BY_HAND_MAX, found


def test_a_value_read_by_a_text_is_noticed():
    tree = ast.parse('name = answer["name"]; answer["seen"] = rows[0]["id"]')
    assert [ast.unparse(each) for each in subscripts(tree)] == ["answer['name']", "rows[0]['id']"]


OWN_DATACLASS = ("engine", "http", "drivers", "sms")
"""Rooms with hundreds of frozen classes. Others have few, or their classes are inherited from."""


def test_frozen_classes_are_made_by_the_dataclass_that_costs_half():
    """Import ``dataclass`` from ``risala.dataclass``; ``InitVar`` needs the other one."""
    found = [
        path.relative_to(SOURCE).as_posix()
        for room in OWN_DATACLASS
        for path, tree in trees(sorted((SOURCE / room).glob("**/*.py")), r"frozen=True")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if "dataclass" in (names := {each.name for each in node.names}) and "InitVar" not in names
    ]
    assert found == []
