"""A table that was opened: what was recognised, and its rows one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

from risala.dataclass import dataclass
from risala.engine.model.mailings import Chosen
from risala.engine.model.records.mailings import Recognised
from risala.engine.rules.mailings.recognising import SampleRow
from risala.sms.numbering.plan import NumberingPlan


@dataclass(frozen=True, slots=True)
class Choice:
    """How a table is to be looked at."""

    chosen: Chosen
    """What somebody chose; the rest is found by looking."""
    plan: NumberingPlan
    """By whose numbers the columns are told apart."""
    files: ExitStack
    """Closes what is opened, when the rows are read."""


@dataclass(frozen=True, slots=True)
class OpenedTable:
    recognised: Recognised
    rows: Iterator[SampleRow]
    """All rows but the headings and blank ones."""
