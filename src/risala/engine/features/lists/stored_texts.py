"""Saved texts as they are stored: what an organization writes often, one for each language."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.lists.records import TEXTS_MAX, SavedText
from risala.engine.journal.accounts import accounts
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Conflict, Invalid
from risala.engine.model.records.record import shallow, to_json

_TABLE: Final = "saved_texts"
_ROWS: Final = Rows.of_record(SavedText)


def add(conn: sqlite3.Connection, new: SavedText) -> SavedText:
    """Store a text.

    Raises:
        NotFound: no such organization.
        Invalid: the organization has one of this name and language.
        Conflict: it has too many.
    """
    accounts.organization(conn, new.organization_id)
    stored = writable(conn, _TABLE)
    if stored.count_where("organization_id = ?", (new.organization_id,)) >= TEXTS_MAX:
        text = f"An organization can have at most {TEXTS_MAX} saved texts. Delete one first."
        raise Conflict(text)
    _refuse_same_name(conn, new)
    stored.insert(columns_of(shallow(new)))
    return new


def saved_text(conn: sqlite3.Connection, text_id: str) -> SavedText:
    """One text.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(table(conn, _TABLE), text_id, "There is no saved text {}.")


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[SavedText]:
    """The texts of an organization, by name and language."""
    return _ROWS.find(
        table(conn, _TABLE),
        "organization_id = ?",
        (organization_id,),
        order_by="name COLLATE NOCASE, language, id",
    )


def change(conn: sqlite3.Connection, text_id: str, values: Mapping[str, Any]) -> SavedText:
    """Change a text.

    Raises:
        NotFound: the id is unknown.
        Invalid: the organization has another one of this name and language.
    """
    saved_text(conn, text_id)
    if values:
        writable(conn, _TABLE).update(text_id, columns_of(values))
    changed = saved_text(conn, text_id)
    _refuse_same_name(conn, changed)
    return changed


def delete(conn: sqlite3.Connection, text_id: str) -> SavedText:
    """Delete a text; what was sent with it stays as it is.

    Raises:
        NotFound: the id is unknown.
    """
    deleted = saved_text(conn, text_id)
    writable(conn, _TABLE).delete(text_id)
    return deleted


def _refuse_same_name(conn: sqlite3.Connection, text: SavedText) -> None:
    for each in of_organization(conn, text.organization_id):
        same = (each.name, each.language) == (text.name, text.language)
        if same and each.id != text.id:
            sentence = "There is a saved text of this name in this language already."
            raise Invalid("name", "same_name", sentence)


def export_texts(
    conn: sqlite3.Connection, organization_id: str, after: str, limit: int
) -> AccountPart:
    """Saved texts by age."""
    texts = [
        _ROWS.of(row)
        for row in conn.execute(
            f"SELECT {_ROWS.columns} FROM saved_texts WHERE organization_id = ? AND id > ?"  # noqa: S608 -- names of ours
            " ORDER BY id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    written = [to_json(each) for each in texts]
    return AccountPart(written, texts[-1].id if len(texts) == limit else None)


@dataclass(frozen=True, slots=True)
class SavedTextRepository:
    """Saved texts. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    saved_text = read(saved_text)
    of_organization = read(of_organization)
    add = audited_command(add)
    change = audited_command(change)
    delete = audited_command(delete)
