"""Units of work with an audit entry: their line of the audit trail is in their transaction."""

from __future__ import annotations

import sqlite3
from typing import TypeVar

from risala.engine.journal.audit.images import seen_of
from risala.engine.journal.store.transaction import Unit
from risala.engine.journal.upkeep import audit_log
from risala.engine.model.audit import AuditEntry
from risala.engine.model.features import required

T = TypeVar("T")


def audited(by: AuditEntry | None, unit: Unit[T]) -> Unit[T]:
    """The unit, which then writes its line in the trail; None: the engine's own unit, without a
    line.

    The object is read before and after. A unit that changes nothing writes no line, unless the
    entry requires it.
    """
    if by is None:
        return unit

    def with_line(conn: sqlite3.Connection) -> T:
        audit_log.refuse_changed(conn, by)
        if by.approval_id is not None:
            required(lambda feature: feature.settles)(conn, by, by.approval_id)
        before = seen_of(conn, by, by.subject)
        changes = conn.total_changes
        answer = unit(conn)
        if by.always or conn.total_changes != changes:
            subject = by.subject or getattr(answer, "id", None)
            after = seen_of(conn, by, subject)
            seen = after or before
            audit_log.write(
                conn,
                by,
                subject=subject,
                organization_id=None if seen is None else seen.organization_id,
                before=None if before is None else before.values,
                after=None if after is None else after.values,
            )
        return answer

    return with_line
