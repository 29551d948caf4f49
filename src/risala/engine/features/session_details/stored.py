"""What callers said of sessions, as it is stored: a row for each session of which they said
something, for thirty days."""

from __future__ import annotations

import json
import sqlite3
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.session_details.records import SaidDetails
from risala.engine.journal.messages.verifications import HOUR_MS
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.pages import AccountPart
from risala.engine.journal.store.repository import Store, read
from risala.engine.journal.store.sql import value_of
from risala.engine.model.errors import RateLimited
from risala.engine.model.feature_work import Forgot, RetentionWalk
from risala.engine.model.ids import first_id
from risala.engine.model.records.messages import StoreBeside
from risala.engine.model.times import iso

_ROWS: Final = Rows(
    SaidDetails,
    tags=lambda text: tuple(json.loads(text)),
    secrets=lambda text: tuple(text.split()),
)
_SELECT: Final = f"SELECT {_ROWS.columns} FROM session_details"  # noqa: S608 -- a constant
_DELETE: Final = (
    "DELETE FROM session_details WHERE verification_id IN"
    " (SELECT verification_id FROM session_details WHERE {} LIMIT ?)"
)


def details_of(conn: sqlite3.Connection, verification_id: str) -> SaidDetails | None:
    """What was said of a session; None: nothing, or no longer."""
    row = conn.execute(f"{_SELECT} WHERE verification_id = ?", (verification_id,)).fetchone()
    return None if row is None else _ROWS.of(row)


def check_client(conn: sqlite3.Connection, new: SaidDetails, per_hour: int) -> None:
    """The limit of codes that users of one address ask for: never more than so many accepted in
    any 60 minutes.

    Raises:
        RateLimited: with the whole seconds until the blocking code is an hour old.
    """
    at: int | None = value_of(
        conn,
        "SELECT created_at FROM session_details WHERE organization_id = ? AND mode = ?"
        " AND client = ? AND created_at > ? ORDER BY created_at DESC LIMIT 1 OFFSET ?",
        (
            *(new.organization_id, new.mode, new.client),
            *(new.created_at - HOUR_MS, per_hour - 1),
        ),
    )
    if at is not None:
        wait_s = -((new.created_at - at - HOUR_MS) // 1000)
        text = "The hourly limit of codes for this user's address is reached. Wait, then try again."
        raise RateLimited("client_ip", wait_s, text)


def store(conn: sqlite3.Connection, new: SaidDetails, per_hour: int) -> None:
    """Store what was said of a new session.

    Args:
        per_hour: as for :func:`check_client`; 0: it does not count.

    Raises:
        RateLimited: as :func:`check_client` does.
    """
    if per_hour:
        check_client(conn, new, per_hour)
    conn.execute(
        "INSERT INTO session_details (verification_id, organization_id, mode, created_at, client,"
        " user_agent, tags, secrets, sealed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(new.verification_id, new.organization_id, new.mode, new.created_at),
            *(new.client, new.user_agent, json.dumps(new.tags, ensure_ascii=False)),
            *(" ".join(new.secrets), new.sealed),
        ),
    )


def forget_sealed(conn: sqlite3.Connection, verification_id: str) -> None:
    """Delete what only a session needed that has ended now."""
    conn.execute(
        "UPDATE session_details SET sealed = NULL WHERE verification_id = ?", (verification_id,)
    )


# -- what goes, and what an owner takes along


def forget_old(conn: sqlite3.Connection, _: RetentionWalk, before_ms: int, limit: int) -> Forgot:
    """Delete what was said of old sessions. Their ids begin with their time."""
    before = first_id("ver", max(0, before_ms))
    gone = conn.execute(_DELETE.format("verification_id < ?"), (before, limit)).rowcount
    return Forgot(gone, "", done=gone < limit)


def clear(conn: sqlite3.Connection, limit: int, organization_id: str | None) -> Forgot:
    """Delete what was said of sessions of an organization that was deleted.

    Args:
        organization_id: None: of all, whose rows are deleted when they are old.
    """
    if organization_id is None:
        return Forgot(0, "", done=True)
    values = (organization_id, limit)
    gone = conn.execute(_DELETE.format("organization_id = ?"), values).rowcount
    return Forgot(gone, "", done=gone < limit)


def erase(
    conn: sqlite3.Connection, organization_id: str, number: str, limit: int
) -> dict[str, int]:
    """Delete what was said of some of a number's sessions that are over; returns of how many. A
    check of a pending one needs it."""
    gone = conn.execute(
        "DELETE FROM session_details WHERE verification_id IN (SELECT v.id FROM verifications v"
        " JOIN session_details d ON d.verification_id = v.id WHERE v.organization_id = ?"
        " AND v.mode IN ('live', 'test') AND v.recipient = ? AND v.status <> 'pending' LIMIT ?)",
        (organization_id, number, limit),
    ).rowcount
    return {"verification details": gone}


def export(conn: sqlite3.Connection, organization_id: str, after: str, limit: int) -> AccountPart:
    """What was said of an organization's sessions."""
    listed = [
        _ROWS.of(row)
        for row in conn.execute(
            f"{_SELECT} WHERE organization_id = ? AND verification_id > ?"
            " ORDER BY verification_id LIMIT ?",
            (organization_id, after, limit),
        )
    ]
    rows = [
        {
            "verificationId": each.verification_id,
            "clientMark": each.client,
            "userAgent": each.user_agent,
            "tags": list(each.tags),
            "createdAt": iso(each.created_at),
        }
        for each in listed
    ]
    return AccountPart(rows, listed[-1].verification_id if len(listed) == limit else None)


@dataclass(frozen=True, slots=True)
class SessionDetailRepository:
    """What callers said of sessions. All reads are by an index, on the loop's thread."""

    _store: Store

    details_of = read(details_of)
    check_client = read(check_client)

    def storing(self, new: SaidDetails, per_hour: int) -> StoreBeside:
        """:func:`store`, for the transaction of the new session."""
        return partial(store, new=new, per_hour=per_hour)
