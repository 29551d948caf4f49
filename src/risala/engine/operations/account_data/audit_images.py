"""What the audit trail sees of what is kept, and of what is taken out."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict

from risala.engine.journal.upkeep import retention_days
from risala.engine.journal.upkeep.audit_log import Seen


def chosen_days(conn: sqlite3.Connection, organization_id: str) -> Seen:
    """The days that the owner chose."""
    return Seen(organization_id, asdict(retention_days.of_organization(conn, organization_id)))
