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
from risala.engine.features.invoices.records import Invoice, InvoiceCustomer
from risala.engine.journal.accounts.balances import first_at
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, audited_command, read, scan
from risala.engine.journal.store.searching import part
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import NotFound
from risala.engine.model.records.record import from_json, shallow, to_json
from risala.engine.model.records.search import Findable, SearchHit, SearchWords
from risala.engine.model.states import Mode
from risala.engine.rules.roles import READERS
from risala.sms.typed import western

_TABLE: Final = "invoices"
_CUSTOMERS: Final = "invoice_customers"
_CUSTOMER_ROWS: Final = Rows.of_record(InvoiceCustomer)
_DIGITS: Final = 4
"""A number has so many digits at least, so that files of a series sort by their names."""
_PRINTED: Final = "SELECT printed FROM invoices"
_LAST: Final = "SELECT coalesce(max(number), 0) FROM invoices WHERE series = ?"
_FIRST_COST: Final = (
    "SELECT coalesce(at, message >> 15) FROM entry INDEXED BY entry_by_organization"
    " WHERE organization = (SELECT no FROM organizations WHERE id = ?) AND seq >= ?"
    " AND kind < 2 AND amount <> 0 ORDER BY seq LIMIT 1"
)
KIND: Final = "invoice"
LOOKED_MAX: Final = 5000
"""Invoices that are looked at for the end of a number, the newest first: of several years."""
_NUMBER: Final = f"series || printf('%0{_DIGITS}d', number)"
_SEARCH: Final = f"""
SELECT i.id, {_NUMBER}, month, 1000 * unixepoch(json_extract(printed, '$.issuedAt')), o.id, o.name
FROM invoices i JOIN organizations o ON o.id = i.organization_id
WHERE {{whose}} AND o.deleted_at IS NULL AND seq IN (
  SELECT seq FROM invoices WHERE series = :series AND number = :number
  UNION ALL
  SELECT seq FROM (SELECT * FROM invoices i WHERE {{whose}} ORDER BY seq DESC LIMIT {LOOKED_MAX})
  WHERE {_NUMBER} LIKE :end ESCAPE '\\' OR id LIKE :id_end
) ORDER BY seq DESC LIMIT :most
"""  # noqa: S608 -- constants
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


def last(conn: sqlite3.Connection, organization_id: str) -> Invoice | None:
    """The invoice of the organization's last month that has one; None: there is none yet."""
    sql = f"{_PRINTED} WHERE organization_id = ? ORDER BY month DESC LIMIT 1"
    return next(iter(_of(conn.execute(sql, (organization_id,)))), None)


def first_cost(conn: sqlite3.Connection, organization_id: str, since: int) -> int | None:
    """When something was first charged to an organization or refunded since a moment, in UTC epoch
    milliseconds; None: nothing was."""
    at: int | None = value_of(conn, _FIRST_COST, (organization_id, first_at(conn, since)))
    return at


def _parts_of(named: str) -> tuple[str, int]:
    """The series and the number of what may be the number of an invoice."""
    series = named.rstrip("0123456789")
    return series, int(named[len(series) :][:18] or 0)


def find(conn: sqlite3.Connection, named: str) -> Invoice:
    """An invoice by its id or its number.

    Raises:
        NotFound: there is none.
    """
    sql = f"{_PRINTED} WHERE id = ? OR series = ? AND number = ?"
    for each in _of(conn.execute(sql, (named, *_parts_of(named)))):
        if named in (each.id, each.number):
            return each
    raise NotFound("There is no such invoice.")


def customer_of(conn: sqlite3.Connection, organization_id: str) -> InvoiceCustomer:
    """What an organization wants to stand about it."""
    rows = _CUSTOMER_ROWS.find(table(conn, _CUSTOMERS), "organization_id = ?", (organization_id,))
    return rows[0] if rows else InvoiceCustomer(organization_id)


def put_customer(conn: sqlite3.Connection, customer: InvoiceCustomer) -> InvoiceCustomer:
    """Store what stands about a customer from the next invoice on."""
    writable(conn, _CUSTOMERS).upsert(columns_of(shallow(customer)))
    return customer


def search(conn: sqlite3.Connection, words: SearchWords) -> list[SearchHit]:
    """The newest invoices with this number, or whose number or id ends so. Those of deleted
    organizations are not found; tests cost nothing, so that test keys find none."""
    if words.of_mode and words.mode == Mode.TEST.value:
        return []
    of, (series, number) = words.organization_id, _parts_of(western(words.text))
    values = {
        "of": of,
        "series": series,
        "number": number,
        "end": part(western(words.text)).removesuffix("%"),
        "id_end": f"%{words.id_end}" if words.id_end else "",
        "most": words.most + 1,
    }
    statement = _SEARCH.format(whose="TRUE" if of is None else "i.organization_id = :of")
    return [
        SearchHit(
            kind=KIND,
            id=invoice_id,
            title=number,
            at=at,
            page=f"{'billing' if of else f'organizations/{whose}/statement'}?month={month}",
            note=month,
            organization=None if of else name,
        )
        for invoice_id, number, month, at, whose, name in conn.execute(statement, values)
    ]


FOUND: Final = (
    Findable(
        kind=KIND,
        table="invoices",
        title="number",
        page="billing?month={}",
        console="organizations/{}/statement",
        operators=READERS,
        find=search,
    ),
)
"""What a search finds of invoices."""


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
    """Invoices. All reads are by an index, on the loop's thread, but that of the ledger.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    of_month = read(of_month)
    last = read(last)
    first_cost = scan(first_cost)
    find = read(find)
    page = read(page)
    issue = audited_command(issue)
    customer_of = read(customer_of)
    put_customer = audited_command(put_customer)
