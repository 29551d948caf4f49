"""A new organization's progress: a key, a delivery, a verified number, a webhook, money.

Nothing is stored for it. Each step is read from its traces, with a limit for each query, so the
cost is the same with ten messages and with ten million.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts import keys as stored_keys
from risala.engine.journal.pages import lists
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.webhooks import endpoints
from risala.engine.model.numbers import DELIVERED
from risala.engine.model.records.figures import (
    FirstHook,
    FirstMessage,
    FirstSession,
    FirstSteps,
)
from risala.engine.model.records.message_lists import FeedMessage
from risala.engine.model.records.record import shallow

LOOKED_MAX: Final = 200
"""Rows of each kind that one step reads: the first event is among the first or the last of them, or
there are so many others that these steps are no longer needed."""
_ORGANIZATION: Final = "organization = (SELECT no FROM organizations WHERE id = ?)"
_MODES: Final = ("test", "live")


def first_steps(conn: sqlite3.Connection, organization_id: str) -> FirstSteps:
    """A new organization's progress."""
    keys = stored_keys.keys(conn, organization_id)
    return FirstSteps(
        key=min(keys, key=lambda key: key.created_at, default=None),
        delivered=_has_delivered(conn, organization_id),
        message=_message(conn, organization_id),
        session=_session(conn, organization_id),
        webhook=_webhook(conn, organization_id),
        paid=_is_paid(conn, organization_id),
    )


def _has_delivered(conn: sqlite3.Connection, organization_id: str) -> bool:
    found = conn.execute(
        f"SELECT 1 FROM hour_count WHERE {_ORGANIZATION} AND outcome = 3 LIMIT 1",  # noqa: S608 -- a constant
        (organization_id,),
    )
    return found.fetchone() is not None


def _message(conn: sqlite3.Connection, organization_id: str) -> FirstMessage | None:
    key = value_of(
        conn,
        f"SELECT coalesce(max(CASE WHEN status = {DELIVERED} THEN key END), max(key))"  # noqa: S608 -- constants
        " FROM (SELECT key, status FROM message INDEXED BY message_by_organization"
        f" WHERE {_ORGANIZATION} ORDER BY key DESC LIMIT ?)",
        (organization_id, LOOKED_MAX),
    )
    if key is None:
        return None
    (found,) = lists.shown(conn, [key])
    return FirstMessage(**shallow(found, FeedMessage), mode=found.mode)


def _session(conn: sqlite3.Connection, organization_id: str) -> FirstSession | None:
    found: list[FirstSession] = []
    for mode in _MODES:
        for order in ("ASC", "DESC"):
            rows = conn.execute(
                "SELECT id, status, recipient, mode, created_at FROM verifications"  # noqa: S608 -- constants
                f" WHERE organization_id = ? AND mode = ? ORDER BY created_at {order} LIMIT ?",
                (organization_id, mode, LOOKED_MAX),
            )
            found += (FirstSession(*row) for row in rows)
    told = [each for each in found if each.status in ("approved", "pending")]
    return max(told, key=lambda each: (each.status == "approved", each.created_at), default=None)


def _webhook(conn: sqlite3.Connection, organization_id: str) -> FirstHook | None:
    found = []
    for endpoint in endpoints.endpoints(conn, organization_id):
        arrived = conn.execute(
            "SELECT delivered_at FROM (SELECT state, delivered_at FROM webhook_delivery"
            " WHERE endpoint_id = ? ORDER BY seq DESC LIMIT ?) WHERE state = 'delivered' LIMIT 1",
            (endpoint.id, LOOKED_MAX),
        )
        at = next((at for (at,) in arrived), None)
        found.append(FirstHook(endpoint.id, endpoint.mode, at))
    return max(found, key=lambda each: each.delivered_at or 0, default=None)


def _is_paid(conn: sqlite3.Connection, organization_id: str) -> bool:
    found = conn.execute(
        "SELECT 1 FROM (SELECT amount FROM entry"  # noqa: S608 -- a constant
        f" WHERE {_ORGANIZATION} AND kind >= 2 LIMIT ?) WHERE amount > 0 LIMIT 1",
        (organization_id, LOOKED_MAX),
    )
    return found.fetchone() is not None
