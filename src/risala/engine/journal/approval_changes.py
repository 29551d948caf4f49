"""Requests that wait for a second operator: asked and refused, each with its line of the trail."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from risala.engine.journal.people import approvals
from risala.engine.journal.upkeep import audit_log
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import OperatorRole
from risala.engine.model.records.people.approvals import StoredApproval


def ask(
    conn: sqlite3.Connection,
    by: AuditEntry,
    new: StoredApproval,
    roles: Iterable[OperatorRole],
) -> None:
    """Store a request with its line, and tell the others who may confirm it.

    Args:
        roles: those who may do what is asked for.

    Raises:
        Conflict: the same waits already, or too many do.
    """
    approvals.add(conn, new, roles)
    audit_log.write(conn, by)


def refuse(
    conn: sqlite3.Connection, by: AuditEntry, approval_id: str, why: str | None
) -> StoredApproval:
    """Refuse a request, or withdraw one's own.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is decided already, or its time is over.
    """
    approvals.refuse(conn, by, approval_id, why)
    audit_log.write(conn, by)
    return approvals.approval(conn, approval_id)
