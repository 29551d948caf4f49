"""Mails to owners that a key expires soon: owed three times, each time once."""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.accounts.accounts import KEYS
from risala.engine.journal.people import mails
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.people_records.mails import MailKind

DAY_MS: Final = 86_400_000
EARLY_MS: Final = 14 * DAY_MS
"""Time to find out who uses a key, and to put another in its place."""
LATER_MS: Final = 3 * DAY_MS
"""For those who forgot the first mail."""
LATE_MS: Final = DAY_MS
"""The last day: while there are still hours to do something."""

# The last step that has begun: a key is told of once in each. One that was made later than that
# is as its makers wanted it.
_DUE: Final = """
    expires_at > :now AND expires_at <= :now + :early AND enabled = 1
    AND max(created_at, coalesce(value_at, 0), coalesce(reminded_at, 0))
      < expires_at - CASE
        WHEN expires_at <= :now + :late THEN :late
        WHEN expires_at <= :now + :later THEN :later
        ELSE :early END
    AND organization_id IN (
      SELECT id FROM organizations WHERE status = 'active' AND deleted_at IS NULL
    )
"""


def due(conn: sqlite3.Connection, now_ms: int) -> list[str]:
    """The ids of keys that expire soon and whose owners are to be told now: fourteen, three and one
    day before."""
    steps = {"early": EARLY_MS, "later": LATER_MS, "late": LATE_MS}
    given = {"now": now_ms, **steps}
    rows = conn.execute(f"SELECT id FROM api_keys WHERE {_DUE}", given)  # noqa: S608 -- a constant
    return [key_id for (key_id,) in rows]


def owe(conn: sqlite3.Connection, key_id: str, now_ms: int) -> None:
    """Owe the owners of a key that expires soon a mail."""
    for key in KEYS.find(table(conn, "api_keys"), "id = ?", (key_id,)):
        details = {"key": key.id, "expires_at": key.expires_at}
        mails.owe_owners(conn, key.organization_id, MailKind.KEY_EXPIRES, details, now_ms)
        writable(conn, "api_keys").update(key.id, {"reminded_at": now_ms})
