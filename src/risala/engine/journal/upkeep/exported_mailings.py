"""Mailings, recipient lists and saved texts of an organization, for its owner's file."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.mailings import mailings, rows
from risala.engine.journal.store.account_part import AccountPart
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.sql import value_of
from risala.engine.model.records.mailing_rows import cells_of
from risala.engine.model.records.recipient_lists import RecipientList, SavedText
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
    found = rows.after(conn, key, row if key == start else 0, limit)
    written = [{"mailingId": mailing_id, **to_json(each)} for each in found]
    following = f"{key} {found[-1].row}" if len(found) == limit else f"{key + 1} 0"
    return AccountPart(written, following)


_LISTS: Final = Rows.of_record(RecipientList)


def lists(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """Recipient lists by age."""
    found = [
        _LISTS.of(row)
        for row in conn.execute(
            f"SELECT {_LISTS.columns} FROM recipient_lists WHERE organization_id = ? AND id > ?"  # noqa: S608 -- names of ours
            " AND deleted_at IS NULL ORDER BY id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    written = [to_json(each) for each in found]
    return AccountPart(written, found[-1].id if len(found) == limit else None)


@dataclass(frozen=True, slots=True)
class _OnList:
    number: str
    cells: tuple[str, ...]


_PEOPLE: Final = Rows(_OnList, cells=cells_of)


def list_people(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    """People of one list after the other, each with its list's id."""
    start, _, number = after.partition(" ")
    found = conn.execute(
        "SELECT key, id FROM recipient_lists WHERE organization_id = ? AND key >= ?"
        " AND deleted_at IS NULL ORDER BY key LIMIT 1",
        (organization_id, int(start or 0)),
    ).fetchone()
    if found is None:
        return AccountPart([], None)
    key, list_id = found
    people = [
        _PEOPLE.of(row)
        for row in conn.execute(
            f"SELECT {_PEOPLE.columns} FROM list_people WHERE list = ? AND number > ?"  # noqa: S608 -- names of ours
            " ORDER BY number LIMIT ?",
            (key, number if str(key) == start else "", limit),
        )
    ]
    written = [{"listId": list_id, **to_json(each)} for each in people]
    following = f"{key} {people[-1].number}" if len(people) == limit else str(key + 1)
    return AccountPart(written, following)


_TEXTS: Final = Rows.of_record(SavedText)


def saved_texts(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    """Saved texts by age."""
    found = [
        _TEXTS.of(row)
        for row in conn.execute(
            f"SELECT {_TEXTS.columns} FROM saved_texts WHERE organization_id = ? AND id > ?"  # noqa: S608 -- names of ours
            " ORDER BY id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    written = [to_json(each) for each in found]
    return AccountPart(written, found[-1].id if len(found) == limit else None)


def count_rows(conn: sqlite3.Connection, organization_id: str) -> int:
    """Rows of mailings, as their counts have them."""
    rows: int = value_of(
        conn,
        "SELECT coalesce(sum(rows), 0) FROM mailings WHERE organization_id = ?"
        " AND keeps_rows = 1 AND deleted_at IS NULL",
        (organization_id,),
    )
    return rows


def count_people(conn: sqlite3.Connection, organization_id: str) -> int:
    """People on lists, as their counts have them."""
    people: int = value_of(
        conn,
        "SELECT coalesce(sum(people), 0) FROM recipient_lists WHERE organization_id = ?"
        " AND deleted_at IS NULL",
        (organization_id,),
    )
    return people
