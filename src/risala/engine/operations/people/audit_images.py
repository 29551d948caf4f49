"""What the audit trail sees of people, before and after."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import Any

from risala.engine.journal.people import members, users
from risala.engine.journal.upkeep.audit_log import Look, Seen


def user(conn: sqlite3.Connection, user_id: str) -> Seen | None:
    found = users.find(conn, user_id)
    if found is None:
        return None
    values: Mapping[str, Any] = {
        "email": found.email,
        "name": found.name,
        "language": found.language.value,
        "operator": found.operator,
    }
    return Seen(None, values)


def member_of(organization_id: str) -> Look:
    """Looks at a user as a member of one organization."""
    return partial(_member, organization_id)


def _member(organization_id: str, conn: sqlite3.Connection, user_id: str) -> Seen | None:
    found, known = members.find(conn, organization_id, user_id), users.find(conn, user_id)
    if found is None or known is None:
        return None
    return Seen(organization_id, {"email": known.email, "role": found.role.value})


def invitation(conn: sqlite3.Connection, invitation_id: str) -> Seen | None:
    found = members.stored_invitation(conn, invitation_id)
    if found is None:
        return None
    return Seen(found.organization_id, {"email": found.email, "role": found.role.value})
