"""Deletes a user's rows: all that identify them.

The audit trail stays: it has their actions, under the name that they had then.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store.tables import writable
from risala.engine.model.features import features
from risala.engine.model.people import User

_BY_USER: Final = (
    *("members", "web_sessions", "one_time_links", "email_changes", "sign_in_requests"),
)
_BY_ADDRESS: Final = (
    ("invitations", "email"),
    ("invitations", "invited_by"),
    ("sign_in_requests", "email"),
    ("sign_in_failures", "email"),
    ("mails", "recipient"),
)


def forget(conn: sqlite3.Connection, user: User) -> None:
    """Delete a user from every table, including their open invitations."""
    theirs = (name for feature in features() for name in feature.of_users)
    for name in (*_BY_USER, *theirs):
        writable(conn, name).delete_where("user_id = ?", (user.id,))
    for name, column in _BY_ADDRESS:
        writable(conn, name).delete_where(f"{column} = ?", (user.email,))
    writable(conn, "users").delete(user.id)
