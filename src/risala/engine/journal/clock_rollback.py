"""After the wall clock was set back: adjusts stored times so that waits keep their length."""

from __future__ import annotations

import sqlite3
from itertools import chain
from typing import Final

from risala.engine.model.features import features
from risala.engine.model.records.messages import HELD_DUE_AT

# Waits for a period of time. Not a time that was chosen (a scheduled message is due at its time),
# nor a message's validity: it merely lasts longer. Features have theirs (``Feature.shifts``).
_SHIFTS: Final = (
    "UPDATE message SET due_at = due_at - :by WHERE status = 0 AND due_at > :now"
    " AND (send_at IS NULL OR due_at <> send_at)"
    " AND due_at < :held",
    "UPDATE message SET resolve_at = resolve_at - :by WHERE resolve_at > :now",
    "UPDATE verifications SET expires_at = expires_at - :by"
    " WHERE status = 'pending' AND expires_at > :now",
    "UPDATE webhook_delivery SET due_at = due_at - :by WHERE state = 'pending' AND due_at > :now",
    "UPDATE webhook_endpoints SET notice_due_at = notice_due_at - :by WHERE notice_due_at > :now",
    "UPDATE mails SET due_at = due_at - :by, useless_at = useless_at - :by"
    " WHERE settled_at IS NULL AND due_at > :now",
    "UPDATE sign_in_requests SET expires_at = expires_at - :by WHERE expires_at > :now",
    "UPDATE one_time_links SET expires_at = expires_at - :by WHERE expires_at > :now",
    "UPDATE email_changes SET expires_at = expires_at - :by WHERE expires_at > :now",
    "UPDATE api_keys SET old_until = old_until - :by WHERE old_until > :now",
    "UPDATE web_sessions SET expires_at = expires_at - :by WHERE expires_at > :now",
)


def follow(conn: sqlite3.Connection, by_ms: int, now_ms: int) -> int:
    """Move the times of waits back by as much as the clock; returns how many rows waited.

    One unit: after a crash all of them are moved or none. ``now_ms`` is by the new clock; what is
    already due by it stays as it is.
    """
    theirs = (each.shifts() for each in features() if each.shifts is not None)
    return sum(
        conn.execute(statement, {"by": by_ms, "now": now_ms, "held": HELD_DUE_AT}).rowcount
        for statement in chain(_SHIFTS, *theirs)
    )
