"""Receipts that matched no message, page by page."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table
from risala.engine.model.records.carriers.stored import UnmatchedReceipt

_TABLE: Final = "unmatched_receipts"
_SEQ_MAX: Final = (1 << 63) - 1


_ROWS: Final = Rows(UnmatchedReceipt)


def page(
    conn: sqlite3.Connection, count: int, *, carrier: str | None, before: int | None
) -> list[UnmatchedReceipt]:
    """The newest first, of one carrier or of all. ``before``: only those older than that number."""
    given: dict[str, Any] = {"seq": _SEQ_MAX if before is None else max(0, min(before, _SEQ_MAX))}
    where = "seq < :seq"
    if carrier is not None:
        where += " AND carrier = :carrier"
        given["carrier"] = carrier
    return _ROWS.find(table(conn, _TABLE), where, given, order_by="seq DESC", limit=count)
