"""Texts of codes by name, as they are stored: a row for each name and language."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.session_details.records import (
    TEMPLATES_MAX,
    CodeTemplate,
    CodeTemplates,
)
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.errors import Invalid
from risala.engine.model.records.record import shallow

_TABLE: Final = "code_templates"
_ROWS: Final = Rows.of_record(CodeTemplate)
_ONE: Final = "organization_id = ? AND name = ? AND language = ?"
FULL: Final = (
    f"An organization has at most {TEMPLATES_MAX} texts of codes in a language. Remove one first."
)


def templates_of(conn: sqlite3.Connection, organization_id: str) -> list[CodeTemplate]:
    """An organization's texts, by name and language."""
    where, order = "organization_id = ?", "name, language"
    return _ROWS.find(table(conn, _TABLE), where, (organization_id,), order_by=order)


def exported(conn: sqlite3.Connection, organization_id: str) -> list[CodeTemplate]:
    """For the owner's file."""
    return templates_of(conn, organization_id)


def named(conn: sqlite3.Connection, organization_id: str, name: str) -> dict[str, str]:
    """The texts of a name, by language; empty: there is no such name."""
    rows = _ROWS.find(
        table(conn, _TABLE), "organization_id = ? AND name = ?", (organization_id, name)
    )
    return {each.language: each.text for each in rows}


def put(conn: sqlite3.Connection, template: CodeTemplate) -> CodeTemplates:
    """Store a text in place of the one of its name and language; an empty one removes that.

    Raises:
        Invalid: its language has as many texts as it may.
    """
    whose, rows = template.organization_id, writable(conn, _TABLE)
    one = (whose, template.name, template.language)
    if not template.text:
        rows.delete_where(_ONE, one)
    else:
        in_language = [
            each.name
            for each in templates_of(conn, whose)
            if each.language == template.language and each.name != template.name
        ]
        if len(in_language) >= TEMPLATES_MAX:
            raise Invalid("name", "too_many", FULL)
        rows.upsert(columns_of(shallow(template)))
    return CodeTemplates(whose, tuple(templates_of(conn, whose)))


@dataclass(frozen=True, slots=True)
class CodeTemplateRepository:
    """Texts of codes by name."""

    _store: Store

    templates_of = read(templates_of)
    named = read(named)
    put = audited_command(put)
