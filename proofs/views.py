"""The page of the database's views, from the docstrings below each: ``python -m proofs.views``.

``tests/docs/test_database.py`` compares the page with the views that a new database has.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final

from risala.engine.journal.store.schema import views

PAGE: Final = Path(__file__).parents[1] / "docs/reference/database-views.md"
_HEAD: Final = """\
# Views of the database

<!-- Written by `python -m proofs.views`; change `src/risala/engine/journal/store/schema/views.py`
instead. -->

[The database](database.md) says how to read them. `organization_id`, `mode` (`live` or `test`) and
times (`…_at`, `at`) mean the same everywhere.
"""


def render() -> str:
    """The page as Markdown."""
    return _HEAD + "".join(_section(names, text) for names, text in _told())


def _section(names: list[str], text: str) -> str:
    told, _, columns = text.replace("``", "`").partition("\n\n- ")
    rows = (" ".join(each.split()).partition(": ") for each in columns.split("\n- "))
    table = "".join(f"| {names} | {meaning} |\n" for names, _, meaning in rows)
    title = " and ".join(f"`{name}`" for name in names)
    return f"\n## {title}\n\n{' '.join(told.split())}\n\n| Column | |\n|---|---|\n{table}"


def _told() -> Iterator[tuple[list[str], str]]:
    """The views of each constant, and the docstring below it."""
    source = inspect.getsource(views)
    for pair in pairwise(ast.parse(source).body):
        match pair:
            case ast.AnnAssign() as made, ast.Expr(value=ast.Constant(value=str(text))):
                written = ast.get_source_segment(source, made) or ""
                if names := re.findall(r"CREATE VIEW (\w+)", written):
                    yield names, inspect.cleandoc(text)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
