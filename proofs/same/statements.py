"""Every statement that SQLite runs meanwhile, and how it finds its rows."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

_VALUE: Final = re.compile(
    r"'(?:[^']|'')*'|\bx'[0-9a-f]*'|(?<![\w?.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\b"
)
_SPACES: Final = re.compile(r"\s+")
_MANY: Final = re.compile(r"\((?:\?|NULL)(?:, ?(?:\?|NULL))+\)")
_PLANNED: Final = ("select", "insert", "update", "delete", "with", "replace")


class Statements:
    """Notes what connections run that were opened by classes made meanwhile: begin before anything
    imports ``sqlite3.Connection``."""

    def __init__(self) -> None:
        self._ran: dict[str, str] = {}
        """A statement with its values, by the same without them."""
        self._base = sqlite3.Connection

    def __enter__(self) -> Self:
        note = self._note

        class Traced(self._base):  # type: ignore[name-defined,misc]
            def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
                super().__init__(*arguments, **options)
                self.set_trace_callback(note)

        sqlite3.Connection = Traced  # type: ignore[misc]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sqlite3.Connection = self._base  # type: ignore[misc]

    def _note(self, statement: str) -> None:
        if statement.lstrip().lower().startswith(_PLANNED):
            self._ran.setdefault(plain(statement), statement)

    def plans(self, database: Path) -> Iterable[str]:
        """Each statement without its values, and its plan, in the order of their words."""
        conn = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
        try:
            for words, statement in sorted(self._ran.items()):
                yield words
                try:
                    rows = conn.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                except sqlite3.Error as error:
                    yield f"    {error}"
                    continue
                depth = {0: 0}
                for number, parent, _, line in rows:
                    depth[number] = depth.get(parent, 0) + 1
                    yield f"{'    ' * depth[number]}{line}"
        finally:
            conn.close()


def plain(statement: str) -> str:
    """A statement without its values, on one line."""
    return _MANY.sub("(?, …)", _SPACES.sub(" ", _VALUE.sub("?", statement)).strip())


def schema(database: Path) -> str:
    """Tables, indexes, views and triggers."""
    conn = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
    try:
        rows = conn.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")
        return "\n\n".join(f"-- {kind} {name}\n{sql}" for kind, name, sql in rows)
    finally:
        conn.close()
