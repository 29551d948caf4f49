"""Small pieces of SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any


def value_of(conn: sqlite3.Connection, statement: str, given: Sequence[object] = ()) -> Any:  # noqa: ANN401 -- as SQLite gives it
    """The only column of the first row; None where there is no row."""
    for (value,) in conn.execute(statement, given):
        return value
    return None


def places(values: Sequence[object]) -> str:
    """As many places as there are values, for ``IN (…)``."""
    return ", ".join("?" * len(values))
