"""What the engine reads and writes of mailings, besides the records that faces get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from risala.dataclass import dataclass
from risala.engine.features.mailings.records import Mailing, MailingRow
from risala.engine.features.tables.records import RowFault

StoreBeside = Callable[[Any, str], None]
"""What is stored in the transaction that makes a mailing: a function of the connection and the
mailing's id."""


@dataclass(frozen=True, slots=True)
class StoredMailing:
    """A mailing with what only the engine needs."""

    mailing: Mailing
    key: int
    upload: str | None
    """None: its file is gone, or there was none."""
    list_id: str | None
    checked: int
    """The last row that the present check has stored; 0: none."""
    clearing: bool
    """The rows of an earlier reading are being deleted; nothing is stored before that is done."""


@dataclass(frozen=True, slots=True)
class NewRow:
    """A row as it was checked: ready, or bad by its fault."""

    row: int
    cells: str
    """The cells as :func:`cells_text` writes them: nobody reads them on their way from the file."""
    number: str | None
    fault: RowFault | None
    column: str | None
    """The column that the fault is about."""
    segments: int
    price: int


@dataclass(frozen=True, slots=True)
class ReadyRow:
    row: int
    number: str
    cells: tuple[str, ...]
    segments: int


@dataclass(frozen=True, slots=True)
class SettledRow:
    """What became of a row that was ready."""

    row: int
    message: int | None
    """The key of its message; None: it was refused."""
    fault: RowFault | None
    """Why it was refused."""


@dataclass(frozen=True, slots=True)
class FailedRows:
    """Some rows of a mailing whose people got nothing, in their order."""

    rows: tuple[MailingRow, ...]
    after: int | None
    """The last row of this piece, where the next one begins; None: this is the last piece."""


@dataclass(frozen=True, slots=True)
class NumberShare:
    """The ready rows whose numbers begin alike."""

    number: str
    """One of the numbers, for the router."""
    rows: int
    segments: int
