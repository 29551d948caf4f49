"""Invoices as rows: their numbers are given, and their words frozen, in one transaction.

The table refuses a gap, a number twice, a change and a deletion by itself.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.invoices.records import Invoice
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import writable
from risala.engine.model.errors import NotFound
from risala.engine.model.records.record import from_json, to_json

_TABLE: Final = "invoices"
_DIGITS: Final = 4
"""A number has so many digits at least, so that files of a series sort by their names."""
_PRINTED: Final = "SELECT printed FROM invoices"
_LAST: Final = "SELECT coalesce(max(number), 0) FROM invoices WHERE series = ?"
BOOKS: Final = (
    """SELECT 'invoices of the series ' || series || ': there are ' || count(*)
       || ', and the last has the number ' || max(number)
       FROM invoices GROUP BY series HAVING count(*) <> max(number)""",
    f"""SELECT 'invoice ' || id || ': it is kept as ' || series || printf('%0{_DIGITS}d', number)
       || ' of ' || month || ', and printed as ' || json_extract(printed, '$.number') || ' of '
       || json_extract(printed, '$.month') FROM invoices
       WHERE json_extract(printed, '$.number') <> series || printf('%0{_DIGITS}d', number)
         OR json_extract(printed, '$.month') <> month
         OR json_extract(printed, '$.organizationId') <> organization_id""",  # noqa: S608 -- a constant
)
"""Queries of gaps in a series, and of invoices that are not what they were printed as."""


def number_of(series: str, number: int) -> str:
    """The number of an invoice, as it is printed."""
    return f"{series}{number:0{_DIGITS}}"


def issue(conn: sqlite3.Connection, draft: Invoice, series: str) -> Invoice:
    """Give an invoice the next number of its series, and keep it for ever.

    A month has one: where it stands already, that is returned, and nothing changes.

    Args:
        draft: all of it but its number.
    """
    former = of_month(conn, draft.organization_id, draft.month)
    if former is not None:
        return former
    number = 1 + int(value_of(conn, _LAST, (series,)))
    new = replace(draft, number=number_of(series, number))
    writable(conn, _TABLE).insert(
        {
            "id": new.id,
            "series": series,
            "number": number,
            "organization_id": new.organization_id,
            "month": new.month,
            "printed": json.dumps(to_json(new), ensure_ascii=False),
        }
    )
    return new


def _of(rows: Iterable[tuple[str]]) -> list[Invoice]:
    return [from_json(Invoice, json.loads(printed)) for (printed,) in rows]


def of_month(conn: sqlite3.Connection, organization_id: str, month: str) -> Invoice | None:
    """The invoice of an organization's month; None: there is none yet."""
    sql = f"{_PRINTED} WHERE organization_id = ? AND month = ?"
    return next(iter(_of(conn.execute(sql, (organization_id, month)))), None)


def find(conn: sqlite3.Connection, named: str) -> Invoice:
    """An invoice by its id or its number.

    Raises:
        NotFound: there is none.
    """
    series = named.rstrip("0123456789")
    number = int(named[len(series) :][:18] or 0)
    sql = f"{_PRINTED} WHERE id = ? OR series = ? AND number = ?"
    for each in _of(conn.execute(sql, (named, series, number))):
        if named in (each.id, each.number):
            return each
    raise NotFound("There is no such invoice.")


def page(
    conn: sqlite3.Connection,
    count: int,
    *,
    organization_id: str | None,
    before: str | None,
    after: str | None,
) -> list[Invoice]:
    """The newest first.

    Args:
        organization_id: None: of all.
        before: the id of an invoice: only older ones.
        after: the id of an invoice: only newer ones, those that are nearest to it.
    """
    terms, values = ["TRUE"], list[str]()
    for than, invoice_id in (("<", before), (">", after)):
        if invoice_id is not None:
            terms.append(f"seq {than} (SELECT seq FROM invoices WHERE id = ?)")  # noqa: S608 -- constants
            values.append(invoice_id)
    if organization_id is not None:
        terms.append("organization_id = ?")
        values.append(organization_id)
    order = "DESC" if after is None else "ASC"
    sql = f"{_PRINTED} WHERE {' AND '.join(terms)} ORDER BY seq {order} LIMIT ?"
    invoices = _of(conn.execute(sql, (*values, count)))
    return invoices if after is None else invoices[::-1]


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Invoices of an organization, as they were printed, for its owner's file."""
    sql = (
        "SELECT seq, printed FROM invoices WHERE organization_id = ? AND seq > ?"
        " ORDER BY seq LIMIT ?"
    )
    printed = dict(conn.execute(sql, (organization_id, int(after or 0), limit)).fetchall())
    rows = [json.loads(each) for each in printed.values()]
    return AccountPart(rows, str(max(printed)) if len(printed) == limit else None)


@dataclass(frozen=True, slots=True)
class InvoiceRepository:
    """Invoices. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    of_month = read(of_month)
    find = read(find)
    page = read(page)
    issue = audited_command(issue)
