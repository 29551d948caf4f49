"""Mailings, recipient lists and saved texts of an organization, for its owner's file."""

from __future__ import annotations

import sqlite3

from risala.engine.features.mailings.stored import mailings, rows
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.sql import value_of
from risala.engine.model.records.record import to_json


def mailings_of(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    """Mailings by age."""
    page = mailings.page(conn, organization_id, after or None, limit)
    return AccountPart([to_json(each) for each in page.mailings], page.older)


def mailing_rows(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    """Rows of one mailing after the other, each with its mailing's id."""
    start, row = map(int, (after or "0 0").split())
    mailing = conn.execute(
        "SELECT key, id FROM mailings WHERE organization_id = ? AND key >= ?"
        " AND deleted_at IS NULL ORDER BY key LIMIT 1",
        (organization_id, start),
    ).fetchone()
    if mailing is None:
        return AccountPart([], None)
    key, mailing_id = mailing
    page = rows.after(conn, key, row if key == start else 0, limit)
    written = [{"mailingId": mailing_id, **to_json(each)} for each in page]
    following = f"{key} {page[-1].row}" if len(page) == limit else f"{key + 1} 0"
    return AccountPart(written, following)


def count_rows(conn: sqlite3.Connection, organization_id: str) -> int:
    """Rows of mailings, as their counts have them."""
    rows: int = value_of(
        conn,
        "SELECT coalesce(sum(rows), 0) FROM mailings WHERE organization_id = ?"
        " AND keeps_rows = 1 AND deleted_at IS NULL",
        (organization_id,),
    )
    return rows
