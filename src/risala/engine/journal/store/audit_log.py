"""Lines of the audit trail, as rows. They are kept as long as the ledger."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final

from risala.engine.journal.store import meta
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.schema.audit import END_KEY
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import AuditEntry, Values, family_of
from risala.engine.model.errors import EditConflict
from risala.engine.model.records.upkeep.trail import AuditLine
from risala.engine.rules.trail.chain import COLUMNS, EMPTY, HASH, ChainEnd, canonical, hash_of

TABLE: Final = "audit_log"
_SEQ_MAX: Final = (1 << 63) - 1
"""SQLite's largest: every line is before it."""


def write(
    conn: sqlite3.Connection,
    entry: AuditEntry,
    *,
    subject: str | None = None,
    organization_id: str | None = None,
    before: Values | None = None,
    after: Values | None = None,
) -> int:
    """Write the line of an entry; returns its number.

    Args:
        subject: if the entry does not name the object.
        organization_id: if the entry does not name it.
        before: the object's former state; None: it did not exist, or was not read.
        after: its present state.
    """
    then = {**(after or {}), **entry.details}
    last = end(conn)
    # Not the last line alone: who has cut the end off must not have another put in its place.
    seq = max(last.seq, last_number(conn)) + 1
    row = dict.fromkeys(COLUMNS) | {
        "seq": seq,
        "at": entry.at,
        "who": entry.caller.who,
        "face": entry.caller.face.value,
        "role": entry.caller.role.value,
        "action": entry.action,
        "organization_id": entry.organization_id or organization_id,
        "subject": entry.subject or subject,
        "before": _packed(before),
        "after": _packed(then or None),
    }
    digest = hash_of(last.hash, [*row.values()])
    writable(conn, TABLE).insert({**row, HASH: digest})
    meta.put(conn, END_KEY, ChainEnd(seq, digest).text)
    return seq


def end(conn: sqlite3.Connection) -> ChainEnd:
    """The last line as it was noted when it was written, even if somebody has removed it since."""
    return noted_end(conn) or EMPTY


def noted_end(conn: sqlite3.Connection) -> ChainEnd | None:
    """:func:`end`; None if there is no such note."""
    return ChainEnd.of(meta.get(conn, END_KEY))


def last_number(conn: sqlite3.Connection) -> int:
    """The number of the newest line; 0 if there is no such row."""
    return max((line.seq for line in lines(conn, 1)), default=0)


def refuse_changed(conn: sqlite3.Connection, entry: AuditEntry) -> None:
    """Refuse an edit of an object that was changed since its caller read it.

    Raises:
        EditConflict: a line about it is later than the entry's version.
    """
    if entry.version is None or entry.subject is None:
        return
    last = _last(conn, entry.subject, family_of(entry.action), entry.organization_id)
    if last is not None and last.seq > entry.version:
        raise EditConflict(last.who)


def version_of(
    conn: sqlite3.Connection, subject: str, family: str, organization_id: str | None = None
) -> int:
    """The number of the last line about an object; 0 if there is no such row.

    An edit sends it back, so that it does not overwrite an unseen change. Only manual changes
    count: a charge is no edit of an organization.
    """
    last = _last(conn, subject, family, organization_id)
    return 0 if last is None else last.seq


def _last(
    conn: sqlite3.Connection, subject: str, family: str, organization_id: str | None
) -> AuditLine | None:
    values: dict[str, Any] = {"subject": subject, "first": f"{family}.", "end": f"{family}/"}
    where = (
        "subject = :subject AND action >= :first AND action < :end"
        " AND coalesce(before, after) IS NOT NULL"  # else it was a read
    )
    if organization_id is not None:
        where += " AND organization_id = :organization_id"
        values["organization_id"] = organization_id
    rows = LINES.find(table(conn, TABLE), where, values, order_by="seq DESC", limit=1)
    return rows[0] if rows else None


def last_of(conn: sqlite3.Connection, subject: str, action: str) -> AuditLine | None:
    """The last line of one action on an object; None: there is none, or it is no longer kept."""
    values = (subject, action)
    rows = LINES.find(
        table(conn, TABLE), "subject = ? AND action = ?", values, order_by="seq DESC", limit=1
    )
    return rows[0] if rows else None


def lines(
    conn: sqlite3.Connection,
    count: int,
    *,
    before: int | None = None,
    organization_id: str | None = None,
    action: str | None = None,
    who: str | None = None,
) -> list[AuditLine]:
    """The newest first. ``before`` is the number of a line; the other arguments are filters."""
    conditions = {"organization_id": organization_id, "action": action, "who": who}
    values = {name: value for name, value in conditions.items() if value is not None}
    return LINES.find(
        table(conn, TABLE),
        " AND ".join(["seq < :seq", *(f"{name} = :{name}" for name in values)]),
        {"seq": _SEQ_MAX if before is None else max(0, min(before, _SEQ_MAX)), **values},
        order_by="seq DESC",
        limit=count,
    )


def line(conn: sqlite3.Connection, seq: int) -> AuditLine | None:
    """One line by its number."""
    rows = LINES.find(table(conn, TABLE), "seq = ?", (min(seq, _SEQ_MAX),))
    return rows[0] if rows else None


def chained(conn: sqlite3.Connection, after: int, count: int) -> list[tuple[int, str]]:
    """Lines after a number, the oldest first: their numbers, and each as its hash covers it, with
    the hash at its end."""
    rows = conn.execute(
        f"SELECT {', '.join(COLUMNS)}, {HASH} FROM audit_log WHERE seq > ? ORDER BY seq LIMIT ?",  # noqa: S608 -- constants
        (max(0, min(after, _SEQ_MAX)), count),
    )
    return [(seq, canonical((seq, *values))) for seq, *values in rows]


def _packed(values: Values | None) -> str | None:
    return None if values is None else json.dumps(values, ensure_ascii=False, sort_keys=True)


def _unpacked(text: str | None) -> Values | None:
    return None if text is None else json.loads(text)


LINES: Final = Rows(AuditLine, before=_unpacked, after=_unpacked)
