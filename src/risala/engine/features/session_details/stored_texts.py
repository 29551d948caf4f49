"""Texts of codes by name, as they are stored: a row for each name and language."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
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
from risala.engine.model.findings import Finding, Grade, Patient
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


_NAMED: Final = (
    "SELECT language FROM code_templates WHERE language <> ''"
    " UNION SELECT json_extract(settings, '$.language') FROM verify_settings"
    " UNION SELECT key FROM verify_settings, json_each(settings, '$.templates')"
)
"""The languages of codes that organizations have chosen, or written texts in."""


def examined(conn: sqlite3.Connection, patient: Patient) -> Iterator[Finding]:
    """Languages that organizations have texts in, and the operator's folder no longer has."""
    texts = patient.settings.code_texts
    gone = sorted(each for (each,) in conn.execute(_NAMED) if each and each not in texts)
    if gone:
        text = (
            f"Organizations have texts of codes in {', '.join(gone)}, of which there is no file:"
            " these codes go out in another language, or are refused. Put the file back into"
            " [verify] texts_folder."
        )
        yield Finding("code texts", Grade.WARN, text)
    elif patient.settings.verify.texts_folder is not None:
        text = f"Codes speak {len(texts)} languages: {', '.join(texts)}."
        yield Finding("code texts", Grade.OK, text)


@dataclass(frozen=True, slots=True)
class CodeTemplateRepository:
    """Texts of codes by name."""

    _store: Store

    templates_of = read(templates_of)
    named = read(named)
    put = audited_command(put)
