"""The deletion of an organization: one unit that ends everything it could still do.

Its data is erased afterwards, in steps (:mod:`risala.engine.journal.upkeep.erasing`). Its row stays
with the ledger and the audit trail, and so do the ids of its keys in its messages.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts import accounts
from risala.engine.journal.people import members, web_sessions
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import writable
from risala.engine.journal.upkeep import erasures
from risala.engine.journal.webhooks import endpoints
from risala.engine.model.features import features
from risala.engine.model.records.people.organizations import OrganizationEnd
from risala.engine.model.records.upkeep.erasures import Deleted

COUNTED_MAX: Final = 10_000
"""The limit of counts before a deletion."""
_OWNED: Final = (
    *("api_keys", "members", "invitations", "senders", "inbound_routes", "opt_out_policies"),
    *("verify_settings", "opened_countries", "organization_prices"),
)
"""The core's tables with few rows for each organization, which are deleted with it."""


def figures(conn: sqlite3.Connection, organization_id: str) -> OrganizationEnd:
    """What ends with an organization.

    Raises:
        NotFound: the id is unknown.
    """

    def count(table: str, more: str = "") -> int:
        statement = f"SELECT count(*) FROM {table} WHERE organization_id = ?{more}"  # noqa: S608 -- constants
        return int(value_of(conn, statement, (organization_id,)))

    of_it = accounts.organization(conn, organization_id)
    no = value_of(conn, "SELECT no FROM organizations WHERE id = ?", (organization_id,))
    pending = value_of(
        conn,
        "SELECT count(*) FROM (SELECT 1 FROM message WHERE organization = ? AND status = 0"
        " AND status <> 3 LIMIT ?)",
        (no, COUNTED_MAX),
    )
    sent = value_of(
        conn,
        "SELECT coalesce(sum(n), 0) FROM hour_count WHERE organization = ? AND outcome = 0",
        (no,),
    )
    return OrganizationEnd(
        organization_id,
        of_it.name,
        of_it.balance,
        of_it.currency,
        keys=count("api_keys"),
        members=count("members"),
        endpoints=count("webhook_endpoints", " AND deleted_at IS NULL"),
        senders=count("senders", " AND status <> 'denied'"),
        pending=int(pending),
        messages=int(sent),
    )


def delete(
    conn: sqlite3.Connection,
    organization_id: str,
    erasure_id: str,
    asked_by: str,
    now_ms: int,
    *,
    actor_id: str | None,
) -> Deleted:
    """End an organization: its keys from now on, and everything else that could act for it.

    Args:
        actor_id: the owner who asks; None: the operator.

    Raises:
        NotFound: the id is unknown, or it is deleted already.
        Forbidden: the actor is no longer an owner.
    """
    accounts.organization(conn, organization_id)
    members.refuse_other_than_owner(conn, organization_id, actor_id)
    users = tuple(each.user_id for each in members.of_organization(conn, organization_id))
    listening = tuple(each.id for each in endpoints.endpoints(conn, organization_id))
    for endpoint_id in listening:
        endpoints.delete(conn, endpoint_id, now_ms)
    web_sessions.end_bound(conn, organization_id)
    owned = [*_OWNED]
    for feature in features():
        owned += feature.deleted
        if feature.ends is not None:
            feature.ends()(conn, organization_id, now_ms)
    for name in owned:
        writable(conn, name).delete_where("organization_id = ?", (organization_id,))
    # Consumers that followed its events with its credentials are owed nothing now.
    no = value_of(conn, "SELECT no FROM organizations WHERE id = ?", (organization_id,))
    writable(conn, "event_cursors").delete_where("organization = ?", (no,))
    accounts.mark_deleted(conn, organization_id, now_ms)
    erasures.begin(conn, erasure_id, organization_id, None, asked_by, now_ms)
    return Deleted(organization_id, users, listening)
