"""Erasures as rows: of one number, or all of an organization; and their progress.

The number is in the row as long as the erasure runs; then only its last digits stay.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Final

from risala.engine.features.own_data.records import (
    Deleted,
    Erased,
    Erasure,
    ErasureStep,
    NumberFigures,
)
from risala.engine.features.own_data.stored import exports
from risala.engine.journal.accounts import accounts
from risala.engine.journal.inbound import opt_outs
from risala.engine.journal.people import members, web_sessions
from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.sql import value_of
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.webhooks import endpoints
from risala.engine.model.errors import Conflict
from risala.engine.model.features import features
from risala.engine.model.numbers import recipient_number

UNDER_WAY_MAX: Final = 20
"""The limit per organization: each reads all events."""
SHOWN_DIGITS: Final = 4
_TABLE: Final = "erasures"


_ROWS: Final = Rows(Erasure, step=ErasureStep, gone=json.loads)


def find(conn: sqlite3.Connection, erasure_id: str) -> Erasure:
    """An erasure by its id.

    Raises:
        NotFound: the id is unknown.
    """
    return _ROWS.one(table(conn, _TABLE), erasure_id, "There is no such deletion.")


def under_way(conn: sqlite3.Connection, broken: BrokenRow | None = None) -> list[Erasure]:
    """Erasures that are not done, of all organizations, the oldest first."""
    erasures = table(conn, _TABLE)
    return _ROWS.find(erasures, "ended_at IS NULL", order_by="created_at, id", broken=broken)


def of_organization(conn: sqlite3.Connection, organization_id: str, limit: int) -> list[Erasure]:
    """The latest first."""
    erasures = table(conn, _TABLE)
    order = "created_at DESC, id DESC"
    return _ROWS.find(
        erasures, "organization_id = ?", (organization_id,), order_by=order, limit=limit
    )


def begin(
    conn: sqlite3.Connection,
    erasure_id: str,
    organization_id: str,
    number: str | None,
    asked_by: str,
    now_ms: int,
) -> Erasure:
    """Note that something is to be erased; a running erasure of the same number is used.

    Raises:
        Conflict: too many are under way.
    """
    # Only the organization's own are read: none of another's may be in the way.
    own = "ended_at IS NULL AND organization_id = ?"
    mine = _ROWS.find(table(conn, _TABLE), own, (organization_id,))
    for each in mine:
        if each.number == number:
            return each
    if len(mine) >= UNDER_WAY_MAX:
        raise Conflict(
            f"At most {UNDER_WAY_MAX} deletions can run at a time. Wait until one has ended."
        )
    writable(conn, _TABLE).insert(
        {
            "id": erasure_id,
            "organization_id": organization_id,
            "number": number,
            "last4": None if number is None else number[-SHOWN_DIGITS:],
            "asked_by": asked_by,
            "created_at": now_ms,
        }
    )
    exports.drop_all(conn, organization_id, now_ms)
    for feature in features() if number is not None else ():
        if feature.withdrawn is not None:
            feature.withdrawn()(conn, organization_id, number)
    return find(conn, erasure_id)


def note(
    conn: sqlite3.Connection,
    erasure: Erasure,
    step: ErasureStep,
    place: str,
    gone: Mapping[str, int],
) -> Erasure:
    """Store its progress; ``gone`` is what this unit erased."""
    total = {**erasure.gone}
    for what, count in gone.items():
        if count:
            total[what] = total.get(what, 0) + count
    values = {"step": int(step), "place": place, "gone": json.dumps(total, sort_keys=True)}
    writable(conn, _TABLE).update(erasure.id, values)
    return find(conn, erasure.id)


def note_own(
    conn: sqlite3.Connection,
    erasure: Erasure,
    step: ErasureStep,
    place: str,
    gone: Mapping[str, int],
) -> Erased:
    """:func:`note`, unless another process was quicker."""
    now = find(conn, erasure.id)
    if (now.step, now.place) != (erasure.step, erasure.place):
        return Erased(now)
    return Erased(note(conn, now, step, place, gone))


def end(conn: sqlite3.Connection, erasure: Erasure, now_ms: int) -> Erasure:
    # A file that was begun meanwhile may contain what was erased since.
    exports.drop_all(conn, erasure.organization_id, now_ms)
    writable(conn, _TABLE).update(erasure.id, {"number": None, "ended_at": now_ms})
    return find(conn, erasure.id)


# -- a number's data, counted before its erasure


COUNTED_MAX: Final = 10_000
"""The limit of each count."""
_MESSAGES: Final = (
    "SELECT count(*) FROM (SELECT 1 FROM message WHERE recipient = ?"
    " AND organization = (SELECT no FROM organizations WHERE id = ?){more} LIMIT ?)"
)
_INBOUND: Final = (
    "SELECT count(*) FROM (SELECT 1 FROM inbound WHERE sender = ? AND organization_id = ? LIMIT ?)"
)
_SESSIONS: Final = (
    "SELECT count(*) FROM (SELECT 1 FROM verifications WHERE recipient = ?"
    " AND organization_id = ? AND mode IN ('live', 'test') LIMIT ?)"
)


def of_number(conn: sqlite3.Connection, organization_id: str, number: str) -> NumberFigures:
    """An organization's data about a number."""

    def count(statement: str, whom: int | str) -> int:
        return int(value_of(conn, statement, (whom, organization_id, COUNTED_MAX)))

    recipient = recipient_number(number)
    theirs = {
        name: int(counted()(conn, organization_id, number, COUNTED_MAX))
        for feature in features()
        for name, counted in feature.figures.items()
    }
    return NumberFigures(
        number=number,
        messages=count(_MESSAGES.format(more=""), recipient),
        pending=count(_MESSAGES.format(more=" AND status = 0"), recipient),
        inbound=count(_INBOUND, number),
        verifications=count(_SESSIONS, number),
        opted_out=opt_outs.is_out(conn, organization_id, number),
        **theirs,
    )


# -- the deletion of an organization


_OWNED: Final = (
    *("api_keys", "members", "invitations", "senders", "inbound_routes", "opt_out_policies"),
    *("verify_settings", "opened_countries", "organization_prices"),
)
"""The core's tables with few rows for each organization, which are deleted with it."""


def delete_organization(
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
    begin(conn, erasure_id, organization_id, None, asked_by, now_ms)
    return Deleted(organization_id, users, listening)
