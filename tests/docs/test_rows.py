"""Rows are read by name: who adds a column in the middle breaks nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from sources import trees

SOURCE = Path(__file__).parents[2] / "src/risala"
ENGINE = SOURCE / "engine"
MANY = {"execute", "executemany", "fetchall", "fetchmany"}
ONE = {"fetchone"}


class Finder(ast.NodeVisitor):
    """Numbers in brackets behind what a statement gave. Names are followed within a function."""

    def __init__(self) -> None:
        self.rows: set[str] = set()
        self.row: set[str] = set()
        self.faults: list[int] = []

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.rows, self.row
        self.rows, self.row = set(), set()
        for _ in range(2):  # a loop's body may stand before what its names are given
            for each in node.body:
                self._learn(each)
        for each in ast.walk(node):
            if isinstance(each, ast.Subscript) and self._is_row(each.value) and _number(each.slice):
                self.faults.append(each.lineno)
        self.rows, self.row = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def _learn(self, node: ast.AST) -> None:
        for each in ast.walk(node):
            match each:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._name(name, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._name(name, value)
                case ast.NamedExpr(target=ast.Name(id=name), value=value):
                    self._name(name, value)
                case (
                    ast.For(target=ast.Name(id=name), iter=source)
                    | ast.comprehension(target=ast.Name(id=name), iter=source)
                ) if self._is_rows(source):
                    self.row.add(name)

    def _name(self, name: str, value: ast.expr) -> None:
        if self._is_row(value):
            self.row.add(name)
        elif self._is_rows(value):
            self.rows.add(name)

    def _is_row(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.row
            case ast.Call(func=ast.Attribute(attr=method)):
                return method in ONE
            case ast.Subscript(value=value, slice=where):
                return self._is_rows(value) and _number(where)
        return False

    def _is_rows(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.rows
            case ast.Call(func=ast.Attribute(attr=method)):
                return method in MANY
        return False


def _number(node: ast.expr) -> bool:
    try:
        return isinstance(ast.literal_eval(node), int)
    except ValueError:
        return False


def faults(tree: ast.Module) -> list[int]:
    finder = Finder()
    finder.visit(tree)
    return sorted({*finder.faults})


def found() -> Iterator[tuple[str, list[int]]]:
    for path, tree in trees(sorted(ENGINE.rglob("*.py")), "|".join(MANY | ONE)):
        lines = faults(tree)
        if lines:
            yield path.relative_to(SOURCE).as_posix(), lines


@pytest.mark.slow
def test_no_column_is_read_by_its_place():
    """Give the columns names: ``store/named.py``, ``store/sql.value_of``, or ``(a, b) = row``."""
    assert dict(found()) == {}


def test_it_is_noticed_wherever_the_row_comes_from():
    source = """
def one(conn):
    row = conn.execute("…").fetchone()
    return row[0]

def two(conn):
    return conn.execute("…").fetchone()[1]

def three(conn):
    rows = conn.execute("…").fetchall()
    return rows[-1][0], [row[2] for row in rows], {row[1] for row in conn.execute("…")}

def four(conn):
    while rows := conn.execute("…").fetchall():
        for row in rows:
            print(row[3])

def fine(conn, given):
    (a,) = conn.execute("…").fetchone()
    for b, c in conn.execute("…"):
        print(b[0], given[1])
    rows = conn.execute("…").fetchall()
    row = rows[-1]
    return row["name"]
"""
    assert faults(ast.parse(source)) == [4, 7, 11, 16]
