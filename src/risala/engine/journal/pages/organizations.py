"""Pages of organizations, the newest first, and the facts that a list adds to their own row."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts import spending
from risala.engine.journal.accounts.accounts import ORGANIZATIONS
from risala.engine.journal.state import CREATED
from risala.engine.journal.store.pages import Walk, page_by_time
from risala.engine.journal.store.searching import part, spellings
from risala.engine.journal.store.sql import value_of
from risala.engine.model.records.accounts import DELETED, OrganizationFacts, OrganizationFilter
from risala.engine.model.records.paging import CursorPage, Place, Steps
from risala.engine.model.records.people.organizations import Organization
from risala.engine.rules.days import day_of

OWNERS_SHOWN_MAX: Final = 3
"""Owners of one organization that a list shows."""


def _hit(wanted: OrganizationFilter) -> tuple[str, tuple[object, ...]]:
    """The condition for a wanted organization."""
    conditions: list[str] = []
    given: list[object] = []
    if wanted.status == DELETED:
        conditions.append("deleted_at IS NOT NULL")
    elif wanted.status is not None:
        conditions.append("deleted_at IS NULL AND organizations.status = ?")
        given.append(wanted.status)
    if wanted.search is not None:
        ways = ["id LIKE ? ESCAPE '\\'"]
        given.append(part(wanted.search))
        for spelled in spellings(wanted.search):
            ways.append("name LIKE ? ESCAPE '\\'")
            given.append(part(spelled))
        ways.append(
            "id IN (SELECT organization_id FROM members WHERE role = 'owner'"
            " AND user_id = (SELECT id FROM users WHERE email = ?))"
        )
        given.append(wanted.search.strip().lower())
        conditions.append(f"({' OR '.join(ways)})")
    return " AND ".join(conditions) or "1", tuple(given)


def page(
    conn: sqlite3.Connection, wanted: OrganizationFilter, steps: Steps
) -> CursorPage[Organization]:
    """One page of the wanted organizations."""
    hit, given = _hit(wanted)
    way = Walk("organizations", "1", (), hit, given, ("id",))
    return page_by_time(conn, ORGANIZATIONS, way, steps, _place_of)


def _place_of(organization: Organization) -> Place:
    return (organization.id,)


def facts(conn: sqlite3.Connection, organization: Organization, now_ms: int) -> OrganizationFacts:
    """A few reads by index, independent of how much it has sent."""
    today = day_of(organization.time_zone, now_ms)
    sent_at: int | None = value_of(
        conn,
        f"SELECT {CREATED} FROM message INDEXED BY message_by_organization"  # noqa: S608 -- a constant
        " WHERE organization = (SELECT no FROM organizations WHERE id = ?)"
        " ORDER BY key DESC LIMIT 1",
        (organization.id,),
    )
    owners = conn.execute(
        "SELECT u.email FROM members m JOIN users u ON u.id = m.user_id"
        " WHERE m.organization_id = ? AND m.role = 'owner'"
        " ORDER BY m.created_at, m.user_id LIMIT ?",
        (organization.id, OWNERS_SHOWN_MAX),
    )
    spent = spending.spent(conn, organization.id, today)
    return OrganizationFacts(spent, sent_at, tuple(email for (email,) in owners))
