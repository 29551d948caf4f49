"""Recipient lists: names, columns and people."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from risala.engine.journal.accounts import accounts
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, Invalid, NotFound
from risala.engine.model.records.recipient_lists import (
    LISTS_MAX,
    RecipientList,
)

_TABLE: Final = "recipient_lists"
_ROWS: Final = Rows.of_record(RecipientList)


def add(conn: sqlite3.Connection, new: RecipientList) -> RecipientList:
    """Store a list without people.

    Raises:
        NotFound: no such organization.
        Invalid: the organization has one of this name.
        Conflict: it has too many.
    """
    accounts.organization(conn, new.organization_id)
    refuse_another(conn, new.organization_id, new.name)
    writable(conn, _TABLE).insert(
        columns_of(
            {
                "id": new.id,
                "organization_id": new.organization_id,
                "name": new.name,
                "columns": (),
                "people": 0,
                "created_at": new.created_at,
                "created_by": new.created_by,
                "changed_at": new.changed_at,
            }
        )
    )
    return recipient_list(conn, new.id)


def refuse_another(conn: sqlite3.Connection, organization_id: str, name: str) -> None:
    """Refuse a further list.

    Raises:
        Invalid: the organization has one of this name.
        Conflict: it has too many.
    """
    if len(of_organization(conn, organization_id)) >= LISTS_MAX:
        raise Conflict(f"An organization can have at most {LISTS_MAX} lists. Delete one first.")
    _refuse_same_name(conn, organization_id, name, None)


def recipient_list(conn: sqlite3.Connection, list_id: str) -> RecipientList:
    """One list.

    Raises:
        NotFound: the id is unknown.
    """
    found = _ROWS.find(table(conn, _TABLE), "id = ? AND deleted_at IS NULL", (list_id,))
    if not found:
        raise NotFound(f"There is no list {list_id}.")
    return found[0]


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[RecipientList]:
    """The lists of an organization, by name."""
    return _ROWS.find(
        table(conn, _TABLE),
        "organization_id = ? AND deleted_at IS NULL",
        (organization_id,),
        order_by="name COLLATE NOCASE, id",
    )


def change(conn: sqlite3.Connection, list_id: str, values: Mapping[str, Any]) -> RecipientList:
    """Change a list's settings.

    Raises:
        NotFound: the id is unknown.
        Invalid: the organization has another list of this name.
    """
    found = recipient_list(conn, list_id)
    if "name" in values:
        _refuse_same_name(conn, found.organization_id, values["name"], list_id)
    if values:
        writable(conn, _TABLE).update(key_of(conn, list_id), columns_of(values))
    return recipient_list(conn, list_id)


def delete(conn: sqlite3.Connection, list_id: str, now_ms: int) -> RecipientList:
    """Delete a list: nobody sees it from now on, and its people are deleted in steps afterwards.
    Mailings that took their rows from it keep them.

    Raises:
        NotFound: the id is unknown.
    """
    found = recipient_list(conn, list_id)
    writable(conn, _TABLE).update(key_of(conn, list_id), {"deleted_at": now_ms})
    return found


def _refuse_same_name(
    conn: sqlite3.Connection, organization_id: str, name: str, list_id: str | None
) -> None:
    others = of_organization(conn, organization_id)
    if any(each.name == name and each.id != list_id for each in others):
        raise Invalid("name", "same_name", "There is a list of this name already.")


def key_of(conn: sqlite3.Connection, list_id: str) -> int:
    """The key of a list, also of a deleted one; 0, which no list has, if the id is unknown."""
    key: int | None = value_of(conn, "SELECT key FROM recipient_lists WHERE id = ?", (list_id,))
    return key or 0
