"""A table that was opened: what was recognised, and its rows one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import field

from risala.dataclass import dataclass
from risala.engine.features.tables.records import COLUMNS_MAX, Chosen, Recognised
from risala.engine.features.tables.rules.recognising import SampleRow
from risala.sms.numbering.plan import NumberingPlan


@dataclass(frozen=True, slots=True)
class Choice:
    """How a table is to be looked at."""

    chosen: Chosen
    """What somebody chose; the rest is found by looking."""
    plan: NumberingPlan
    """The plan by whose numbers the columns are told apart."""
    files: ExitStack
    """Closes what is opened, when the rows are read."""


@dataclass(slots=True)
class Hidden:
    """What a sheet hides, by hand or by a filter: left out, and counted."""

    with_hidden: bool
    """Nothing is left out."""
    rows: int = 0
    """Hidden rows with anything in them that were read so far."""
    columns: int = 0
    """Hidden columns with anything in them that were read so far."""
    places: set[int] = field(default_factory=set)
    """The hidden columns, by place from 1."""
    filled: set[int] = field(default_factory=set)
    """The hidden columns that have anything in them."""

    def add_columns(self, first: int, last: int) -> None:
        """Note that the columns of a range are hidden."""
        self.places |= {*range(first, min(last, COLUMNS_MAX) + 1)}

    def shown(self, cells: Mapping[int, str], *, is_shown: bool) -> list[str]:
        """The cells of a row by their places, from 1, as the sheet shows them; empty: it shows
        none."""
        full = self.places.intersection(cells)
        self.filled |= full
        self.columns = len(self.filled)
        self.rows += not is_shown
        if not self.with_hidden:
            if not is_shown:
                return []
            if len(full) == len(cells):
                return []
        left_out = set() if self.with_hidden else self.places
        last = max(place for place in cells if place not in left_out)
        places = (place for place in range(1, last + 1) if place not in left_out)
        return [cells.get(place, "") for place in places]


@dataclass(frozen=True, slots=True)
class OpenedTable:
    recognised: Recognised
    rows: Iterator[SampleRow]
    """All rows but the headings and blank ones."""
    hidden: Hidden = field(default_factory=lambda: Hidden(with_hidden=True))
    """What of a workbook was left out, once all rows are read."""
