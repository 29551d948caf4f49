"""Finds rows of the tables that are declared as findable.

Each kind costs a bounded number of SQLite's steps, whatever the words and however large the tables:
what has more is searched in part, the newest rows first.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Final
from urllib.parse import quote

from risala.dataclass import dataclass
from risala.engine.journal.store.repository import Store
from risala.engine.journal.store.searching import NumberIndex, containing, numbers_with
from risala.engine.journal.store.sql import markers
from risala.engine.model.records.asks import TooManyNumbersError
from risala.engine.model.records.search import Findable, SearchHit, SearchWords

LOOKED_MAX: Final = 5000
"""Rows of one kind that are searched for words."""
NUMBERS_MAX: Final = 200
"""Numbers whose rows are looked up: a few milliseconds."""
STEPS_MAX: Final = 400
"""Thousands of SQLite's steps for one kind: some twenty milliseconds."""
_STEPS: Final = 1000
TIME_MAX_S: Final = 1.0
"""The time for one kind: a step compares a whole text, which is slow where both repeat a letter."""
NOTE_MAX: Final = 160
"""Characters of a text that are shown: about a line."""
_IS_OVER: Final = "interrupted"


@dataclass(frozen=True, slots=True)
class FoundRows:
    rows: tuple[SearchHit, ...]
    cut: bool
    """Whether a kind has more, or was searched in part."""


def find(conn: sqlite3.Connection, kinds: Iterable[Findable], words: SearchWords) -> FoundRows:
    """What fits the words, kind by kind in their order."""
    rows: list[SearchHit] = []
    cut = False
    for kind in kinds:
        if kind.elsewhere is not None:
            continue
        search = kind.find or partial(_of_kind, kind)
        try:
            with _bounded(conn):
                hits = [*search(conn, words)]
        except TooManyNumbersError:
            cut = True
            continue
        except sqlite3.OperationalError as error:
            if str(error) != _IS_OVER:
                raise
            cut = True
            continue
        cut = cut or len(hits) > words.most
        rows += hits[: words.most]
    return FoundRows(tuple(rows), cut)


@contextmanager
def _bounded(conn: sqlite3.Connection) -> Iterator[None]:
    """Interrupt statements after so many steps: a count, so that the same is found each time. The
    time ends only what is made to be slow."""
    left, until = STEPS_MAX, monotonic() + TIME_MAX_S

    def step() -> bool:
        nonlocal left
        left -= 1
        return left < 0 or monotonic() > until

    conn.set_progress_handler(step, _STEPS)
    try:
        yield
    finally:
        conn.set_progress_handler(None, 0)


def _of_kind(kind: Findable, conn: sqlite3.Connection, words: SearchWords) -> Sequence[SearchHit]:
    """The rows of a table that fit."""
    if "_" in words.id_end:
        if not kind.prefix or not words.id_end.startswith(f"{kind.prefix}_"):
            return ()
        return _rows(conn, kind, words, f"{kind.id} = ?", (words.id_end,))
    rows: dict[str, SearchHit] = {}
    if kind.number and words.part is not None:
        rows |= {each.id: each for each in _with_number(conn, kind, words)}
    columns = kind.names if words.organization_id is None else (*kind.names, *kind.texts)
    hits, values = list[str](), list[object]()
    if columns:
        hit, of_hit = containing(columns, words.text)
        hits.append(hit)
        values += of_hit
    if words.id_end and kind.prefix:
        hits.append(f"{kind.id} LIKE ?")
        values.append(f"%{words.id_end}")
    if hits:
        walked = _rows(conn, kind, words, "1", (), hit=" OR ".join(hits), of_hit=values)
        rows |= {each.id: each for each in walked}
    return sorted(rows.values(), key=lambda row: row.at, reverse=True)


def _with_number(
    conn: sqlite3.Connection, kind: Findable, words: SearchWords
) -> Sequence[SearchHit]:
    """Rows with a number that has the digits, by the index of numbers."""
    assert words.part is not None, "no digits are looked for"
    leading = {"organization_id": words.organization_id, "mode": words.mode}
    where = " AND ".join(f"{each} = ?" for each in kind.number_by) or "1"
    index = NumberIndex(
        *(kind.number_from or kind.table, kind.number, where),
        tuple(leading[each] for each in kind.number_by),
    )
    numbers = _few_with(conn, index, words.part.digits)
    if numbers is None:
        numbers = numbers_with(conn, index, words.part)[:NUMBERS_MAX]
    if not numbers:
        return ()
    return _rows(conn, kind, words, f"{kind.number} IN ({markers(numbers)})", tuple(numbers))


def _few_with(conn: sqlite3.Connection, index: NumberIndex, digits: str) -> list[str] | None:
    """The numbers with the digits, where the table has so few rows that all are read: to look into
    thousands of ranges takes longer. None: it has more."""
    rows = f"SELECT {index.column} AS number FROM {index.source} WHERE {index.where} LIMIT ?"  # noqa: S608 -- constants
    count, hits = conn.execute(
        "SELECT count(*), json_group_array(DISTINCT number) FILTER (WHERE number LIKE ?)"  # noqa: S608 -- constants
        f" FROM ({rows})",
        (f"%{digits}%", *index.values, LOOKED_MAX + 1),
    ).fetchone()
    return None if count > LOOKED_MAX else json.loads(hits)[:NUMBERS_MAX]


def _rows(
    conn: sqlite3.Connection,
    kind: Findable,
    words: SearchWords,
    where: str,
    values: tuple[object, ...],
    *,
    hit: str = "1",
    of_hit: Sequence[object] = (),
) -> Sequence[SearchHit]:
    """The newest rows that fit, among the newest that are looked at."""
    conditions, filters = [kind.where, where], [*values]
    everywhere = words.organization_id is None
    if not everywhere:
        conditions.append(f"{kind.organization} = ?")
        filters.append(words.organization_id)
    if words.of_mode and kind.mode is not None:
        conditions.append(f"{kind.mode} = ?")
        filters.append(words.mode)
    named = "NULL"
    if everywhere and kind.organization is not None:
        named = f"(SELECT o.name FROM organizations o WHERE o.id = {kind.organization})"  # noqa: S608 -- constants
    note = f"substr({kind.note}, 1, {NOTE_MAX})"
    selected = conn.execute(
        f"SELECT * FROM (SELECT {kind.id}, {kind.title}, {kind.at}, {kind.place},"  # noqa: S608 -- constants
        f" {kind.mode or 'NULL'}, {kind.state}, {note}, {named}, ({hit}) AS hit FROM {kind.table}"
        f" WHERE {' AND '.join(conditions)} ORDER BY {kind.newest} DESC LIMIT ?)"
        " WHERE hit LIMIT ?",
        (*of_hit, *filters, LOOKED_MAX, words.most + 1),
    )
    address = (kind.console if everywhere else kind.page) or ""
    return [
        SearchHit(
            kind=kind.kind,
            id=identity,
            title=title,
            at=at,
            page=address.format(quote(str(place), safe="@")),
            mode=mode,
            state=state,
            note=shown or None,
            organization=name,
        )
        for identity, title, at, place, mode, state, shown, name, _ in selected
    ]


@dataclass(frozen=True, slots=True)
class SearchRepository:
    """Everything that a search finds, read on a thread."""

    _store: Store

    async def find(self, kinds: Sequence[Findable], words: SearchWords) -> FoundRows:
        """What fits the words, kind by kind in their order."""
        return await self._store.scan(lambda conn: find(conn, kinds, words))
