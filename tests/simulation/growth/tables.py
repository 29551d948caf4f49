"""Every table of the database: what bounds it, and the most rows that were ever in it."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from tests.simulation.growth.bounds import limit_of, shown

from risala.config.model import Settings

LIST = Path(__file__).with_name("tables.txt")
_LIMIT = re.compile(r"(?P<most>\S+)(?: for each (?P<each>.+?))?(?: where (?P<where>.+))?")


@dataclass(frozen=True)
class Table:
    name: str
    most: str
    """A number, a constant or a setting; ``-``: what the words say."""
    each: str
    """Columns: so many rows at most for each of their values; empty: of the whole table."""
    where: str
    """Of these rows only; empty: of all."""
    words: str

    def limit(self, settings: Settings) -> int | None:
        """Raises LookupError: there is no such constant or setting."""
        return None if self.most == "-" else limit_of(self.most, settings)

    @property
    def title(self) -> str:
        """What is counted, as the page of evidence says it."""
        of = f" of one {self.each}" if self.each else ""
        return f"table {self.name}{of}{f' ({self.where})' if self.where else ''}"

    @cached_property
    def query(self) -> str:
        rows = f"SELECT count(*) AS n FROM {self.name}"
        rows += f" WHERE {self.where}" if self.where else ""
        if not self.each:
            return rows
        return f"SELECT coalesce(max(n), 0) FROM ({rows} GROUP BY {self.each})"


def listed() -> list[Table]:
    """As they stand in the list; a table may have several lines."""
    found = []
    for line in LIST.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, limit, words = line.split(" | ", 2) if line.count(" | ") > 1 else (line, "", "")
            parts = _LIMIT.fullmatch(limit)
            assert parts is not None, line
            given = [parts[each] or "" for each in ("most", "each", "where")]
            found.append(Table(name, *given, words))
    return found


def stored(path: Path) -> set[str]:
    """The tables of a file."""
    with closing(sqlite3.connect(path)) as conn:
        return {row[0] for row in conn.execute("SELECT name FROM sqlite_master WHERE type='table'")}


class Rows:
    """The most rows that were ever in each table of a history."""

    def __init__(self, settings: Settings, known: list[Table] | None = None) -> None:
        lines = listed() if known is None else known
        whole = {each.name for each in lines if not each.each and not each.where}
        lines += [
            replace(each, most="-", each="", where="")
            for each in {each.name: each for each in lines}.values()
            if each.name not in whole
        ]
        self._known = [(each, each.limit(settings)) for each in lines]
        self.highest: dict[str, tuple[int, str]] = {}
        """By table: the most that was in it, and its limit in words."""
        self.faults: list[str] = []

    def look(self, path: Path) -> None:
        """Count what is in this file at this moment."""
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as conn:
            there = {row[0] for row in conn.execute("SELECT name FROM sqlite_master")}
            for table, limit in self._known:
                if table.name in there:
                    (used,) = conn.execute(table.query).fetchone()
                    self._note(table, used, limit)

    def _note(self, table: Table, used: int, limit: int | None) -> None:
        if limit is not None and used > limit:
            self.faults.append(f"{table.title} has {used} rows, its limit is {limit}")
        before, _ = self.highest.get(table.title, (0, ""))
        self.highest[table.title] = (max(before, used), shown(limit, table.most, table.words))
