"""Codes that other software made and a hook sends: accepted with their sealed texts."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.messages import acceptance
from risala.engine.journal.messages.answers import known_answer
from risala.engine.journal.messages.codes.verifications import HOUR_MS, check_limits
from risala.engine.model.records.messages import Acceptance, NewHookCode, Stamp

CLEARED_AT_ONCE: Final = 20
"""Rows past their hour that one more code deletes: more than come with it."""


def begin(conn: sqlite3.Connection, new: NewHookCode, stamp: Stamp | None = None) -> Acceptance:
    """Accept a code's SMS with its sealed text, or neither.

    With the key of an earlier message nothing is accepted: its answer is the result.

    Args:
        stamp: given where the organization has senders that wait for volume.

    Raises:
        RateLimited: an hour limit.
        InsufficientBalance, Forbidden: as for any message.
    """
    message = new.message
    known = known_answer(conn, message.organization_id, message.mode, message.idempotency_key)
    if known is not None:
        return Acceptance((known,), None, None)
    check_limits(conn, new)
    accepted = acceptance.accept_one(conn, message, stamp)
    conn.execute(
        "DELETE FROM hook_codes WHERE message IN (SELECT message FROM hook_codes"
        " WHERE sealed IS NULL AND created_at <= ? ORDER BY created_at LIMIT ?)",
        (message.created_at - HOUR_MS, CLEARED_AT_ONCE),
    )
    conn.execute(
        "INSERT INTO hook_codes (message, organization_id, mode, recipient, created_at, sealed)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            *(message.key, message.organization_id, message.mode, message.recipient),
            *(message.created_at, new.sealed),
        ),
    )
    return accepted
