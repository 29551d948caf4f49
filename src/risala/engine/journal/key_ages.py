"""Keys without an end, or with one that is too late for the rule of their organization or of the
service, get a date."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts.accounts import KEYS, organization
from risala.engine.journal.store.audit_log import write
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import PROCESS
from risala.engine.model.times import iso
from risala.engine.rules.people.key_age import DAY_MS, GRACE_MS, age_days

AT_ONCE: Final = 200
"""Keys that one unit of work changes, each with its line in the audit trail."""
ACTION: Final = "key.aged"
"""The line of a key that got its date."""
_DAYS: Final = (
    "(SELECT min(coalesce(key_age_days, :service), coalesce(:service, key_age_days))"
    " FROM organizations WHERE id = organization_id AND deleted_at IS NULL)"
)
_LATEST: Final = f"max(coalesce(value_at, created_at) + {DAY_MS} * {_DAYS}, :now + {GRACE_MS})"
_TOO_LATE: Final = f"{_DAYS} IS NOT NULL AND (expires_at IS NULL OR expires_at > {_LATEST})"


def has_rule(conn: sqlite3.Connection) -> bool:
    """Whether any organization has a rule of its own."""
    return table(conn, "organizations").count_where("key_age_days IS NOT NULL") > 0


def date_keys(conn: sqlite3.Connection, service: int | None, now_ms: int) -> int:
    """Give a date to keys that have none, or too late a one; returns to how many.

    Args:
        service: the days of the service's own rule; None: it has none.
    """
    given = {"service": service, "now": now_ms}
    found = KEYS.find(table(conn, "api_keys"), _TOO_LATE, given, limit=AT_ONCE)
    for key in found:
        days = age_days(organization(conn, key.organization_id).key_age_days, service)
        assert days is not None, "the statement found those with a rule"
        at = max(key.made_at + days * DAY_MS, now_ms + GRACE_MS)
        writable(conn, "api_keys").update(key.id, {"expires_at": at})
        said = {"expires_at": iso(at), "days": days}
        entry = AuditEntry(
            caller=PROCESS,
            action=ACTION,
            at=now_ms,
            subject=key.id,
            organization_id=key.organization_id,
            said=said,
            always=True,
        )
        write(conn, entry)
    return len(found)
