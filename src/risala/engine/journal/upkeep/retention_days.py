"""Owners' choices of retention days, as rows."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from typing import Final

from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.upkeep import retention
from risala.engine.model.audit import Seen
from risala.engine.model.records.record import audit_image
from risala.engine.model.records.upkeep.retention import (
    EVENTS_LATE_WALK,
    EVENTS_WALK,
    RetentionDays,
)

_TABLE: Final = "kept_days"
_ROWS: Final = Rows(RetentionDays)


def of_organization(conn: sqlite3.Connection, organization_id: str) -> RetentionDays:
    """The days that an organization's owner chose."""
    found = _ROWS.find(table(conn, _TABLE), "organization_id = ?", (organization_id,))
    return found[0] if found else RetentionDays()


def seen(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """What the audit trail shows of the days that an owner chose."""
    return Seen(organization_id, audit_image(of_organization(conn, organization_id)))


def chosen(conn: sqlite3.Connection) -> dict[str, RetentionDays]:
    """All organizations whose owners chose, and what."""
    rows = table(conn, _TABLE).rows_where(order_by="organization_id")
    return {row["organization_id"]: _ROWS.named(row) for row in rows}


def choose(conn: sqlite3.Connection, organization_id: str, days: RetentionDays) -> RetentionDays:
    """Keep an organization's data for this long from now on; no change writes nothing."""
    old = of_organization(conn, organization_id)
    if days == old:
        return old
    forget(conn, organization_id)
    if days != RetentionDays():
        writable(conn, _TABLE).insert({"organization_id": organization_id, **asdict(days)})
    if days.events is not None and days.events != old.events:
        for walk in (EVENTS_WALK, EVENTS_LATE_WALK):
            retention.look_again(conn, walk.format(days=days.events))
    return days


def forget(conn: sqlite3.Connection, organization_id: str) -> None:
    """Use the operator's days again."""
    writable(conn, _TABLE).delete_where("organization_id = ?", (organization_id,))
