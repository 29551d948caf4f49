"""Rows by name: the fields of a value are the columns that it is read from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from enum import Enum
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

from sqlite_utils.db import Table

from risala.engine.journal.store.sql import value_of
from risala.engine.model.errors import NotFound
from risala.engine.model.records.record import RecordField, fields_of, is_list

T = TypeVar("T")

BrokenRow = Callable[[str, Exception], None]
"""Told of a row that is no value, by its id and why; the reading goes on with the next one."""


class Rows(Generic[T]):
    """Reads one kind of value; made once, beside the statements that name :attr:`columns`."""

    def __init__(
        self,
        shape: type[T],
        sources: dict[str, str] | None = None,
        *,
        make: Callable[..., T] | None = None,
        **convert: Callable[[Any], object],
    ) -> None:
        """
        Args:
            shape: a dataclass.
            sources: the expressions of those fields that are not columns of the same name.
            make: what makes one; by default the shape itself.
            convert: what makes a field of what SQLite gives, for those where it is another.
        """
        names = [field.name for field in fields(shape) if field.init]  # type: ignore[arg-type]
        known = sources or {}
        if make is None and any(field.kw_only for field in fields(shape)):  # type: ignore[arg-type]
            make = partial(_by_name, shape, names)
        self._names = names
        self._key = names.index("id") if "id" in names else 0
        self._make: Callable[..., T] = make or shape
        self._convert = [(names.index(name), make) for name, make in convert.items()]
        self.columns = ", ".join(
            f'{known[name]} AS "{name}"' if name in known else name for name in names
        )
        self._values = ", ".join(known.get(name, name) for name in names)

    @classmethod
    def of_record(cls, shape: type[T], sources: dict[str, str] | None = None) -> Rows[T]:
        """The rows of a record: the converters from SQLite's values follow from its field types."""
        made = {each.name: _reader(each) for each in fields_of(shape)}
        convert: dict[str, Any] = {name: make for name, make in made.items() if make is not None}
        return cls(shape, sources, **convert)

    def of(self, row: Sequence[Any]) -> T:
        """The value of a row selected by :attr:`columns`."""
        if not self._convert:
            return self._make(*row)
        values = [*row]
        for place, make in self._convert:
            values[place] = make(values[place])
        return self._make(*values)

    def gather(self, conn: sqlite3.Connection, source: str, values: Sequence[object]) -> list[T]:
        """The values of all rows of ``source``, which is what stands behind ``FROM``, in whatever
        order. Numbers are whole and nothing is bytes.

        They come as one text. Python lets go of the interpreter and takes it again for each column
        of each row that it fetches: of a page of fifty that is a thousand times, a sixth of what
        the page costs, and each time the thread that writes may have taken it.
        """
        statement = f"SELECT json_group_array(json_array({self._values})) FROM {source}"  # noqa: S608 -- names of our own
        return [self.of(row) for row in json.loads(value_of(conn, statement, values))]

    def find(
        self,
        table: Table,
        where: str | None = None,
        values: Sequence[object] | dict[str, Any] | None = None,
        *,
        order_by: str | None = None,
        limit: int | None = None,
        broken: BrokenRow | None = None,
    ) -> list[T]:
        """The values of a table's rows.

        Args:
            broken: as :func:`readable` takes it. Rows that are left out count for no limit.

        Not through sqlite-utils, which first checks that the table exists, and makes a dict of each
        row: a page needs a handful of these.
        """
        parts = [f"SELECT {self.columns} FROM [{table.name}]"]  # noqa: S608 -- names of our own
        parts += [] if where is None else [f"WHERE {where}"]
        parts += [] if order_by is None else [f"ORDER BY {order_by}"]
        parts += [] if limit is None or broken is not None else [f"LIMIT {int(limit)}"]
        with closing(table.db.conn.execute(" ".join(parts), values or ())) as rows:
            return [*islice(readable(rows, self.of, self._key, broken), limit)]

    def one(self, table: Table, row_id: object, missing: str, *, where: str = "id = ?") -> T:
        """The value of the row with an id.

        Args:
            missing: what to say if there is none; ``{}`` is the id.

        Raises:
            NotFound: the id is unknown.
        """
        values = self.find(table, where, (row_id,))
        if not values:
            raise NotFound(missing.format(row_id))
        return values[0]

    def named(self, row: Mapping[str, Any]) -> T:
        """The value of a row of sqlite-utils, which may have further columns."""
        return self.of([row[name] for name in self._names])


def _by_name(shape: type[T], names: Sequence[str], *values: object) -> T:
    return shape(**dict(zip(names, values, strict=True)))


def readable(
    rows: Iterable[Sequence[Any]],
    make: Callable[[Sequence[Any]], T],
    key: int,
    broken: BrokenRow | None,
) -> Iterator[T]:
    """The values of rows.

    Args:
        key: the place of the id in a row.
        broken: told of the rows that are no value, which are left out; None: such a one is raised.
    """
    for row in rows:
        try:
            value = make(row)
        except Exception as fault:
            if broken is None:
                raise
            broken(str(row[key]), fault)
        else:
            yield value


def text_or_none(value: str) -> str | None:
    """The text of a column that is empty where there is none."""
    return value or None


def _reader(field: RecordField) -> Callable[[Any], object] | None:
    """The converter from a column to a record's field; None: unchanged."""
    if is_list(field.kind):
        return lambda text: None if text is None else tuple(json.loads(text))
    if not (isinstance(field.kind, type) and issubclass(field.kind, bool | Enum)):
        return None
    make: Callable[[Any], object] = field.kind
    return (lambda value: None if value is None else make(value)) if field.may_be_none else make


def columns_of(values: Mapping[str, object]) -> dict[str, object]:
    """Fields of a record as columns of the same names: a list is JSON, a word its text."""
    return {name: _column(value) for name, value in values.items()}


def columns_of_record(record: object, *, without: Collection[str]) -> dict[str, object]:
    """A record's fields as :func:`columns_of` has them, without some."""
    names = (each.name for each in fields(record))  # type: ignore[arg-type]
    return columns_of({name: getattr(record, name) for name in names if name not in without})


def _column(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    return json.dumps(value) if isinstance(value, tuple) else value
