"""The checks of a database from before the slim tables, which is not migrated yet.

They never change: their faults are compared with those of today's checks afterwards, and the
sentences are the same.
"""

from __future__ import annotations

import sqlite3
from typing import Final

# Each query gives one sentence for each fault.
_CHECKS: Final = (
    """SELECT 'organization ' || o.id || ': its balance is ' || o.balance
       || ' minor units, its ledger adds up to ' || coalesce(sum(l.amount), 0)
       FROM organizations o LEFT JOIN ledger l ON l.organization_id = o.id
       GROUP BY o.id HAVING o.balance <> coalesce(sum(l.amount), 0)""",
    """SELECT 'ledger entry ' || seq || ': the balance after it is ' || balance_after
       || ', the entries up to it add up to ' || running FROM (
         SELECT seq, balance_after, sum(amount) OVER (
           PARTITION BY organization_id ORDER BY seq) AS running FROM ledger)
       WHERE balance_after <> running""",
    """SELECT 'message ' || m.id || ': accepted and not charged its price of ' || m.price
       FROM messages m LEFT JOIN ledger l ON l.reference = m.id AND l.kind = 'charge'
       WHERE m.mode = 'live' AND (l.seq IS NULL OR l.amount <> -m.price
         OR l.organization_id <> m.organization_id)""",
    """SELECT 'message ' || m.id || ': ' || m.status || ' and not refunded'
       FROM messages m LEFT JOIN ledger l ON l.reference = m.id AND l.kind = 'refund'
       WHERE m.mode = 'live' AND m.status IN ('failed', 'canceled')
         AND (l.seq IS NULL OR l.amount <> m.price)""",
    """SELECT 'message ' || m.id || ': ' || m.status || ' and refunded all the same'
       FROM messages m JOIN ledger l ON l.reference = m.id AND l.kind = 'refund'
       WHERE m.status NOT IN ('failed', 'canceled')""",
    """SELECT 'ledger entry ' || l.seq || ': a ' || l.kind || ' for ' || l.reference
       || ', which is no message' FROM ledger l LEFT JOIN messages m ON m.id = l.reference
       WHERE l.kind IN ('charge', 'refund') AND m.id IS NULL""",
    """SELECT 'message ' || id || ': no idempotency key remembers it'
       FROM messages WHERE kind = 'sms' AND id NOT IN (SELECT message_id FROM idempotency)""",
    """SELECT 'message ' || m.id || ': ' || m.status || ', but only ' || count(s.number)
       || ' of its ' || m.segments || ' segments were accepted'
       FROM messages m LEFT JOIN segments s ON s.message_id = m.id
         AND s.state IN ('accepted', 'delivered', 'undelivered')
       WHERE m.mode = 'live' AND m.status IN ('sent', 'delivered', 'undelivered')
         AND m.pruned & 2 = 0
       GROUP BY m.id HAVING count(s.number) <> m.segments""",
)

_MOVING: Final = "old_messages"
"""The table that exists while rows are moved."""
COUNTED: Final = ("organizations", "messages", "ledger")
_PRUNED: Final = "AND m.pruned & 2 = 0"
"""Before the tenth migration nothing was."""


def is_of_before(conn: sqlite3.Connection) -> bool:
    """Whether all messages are in the former tables."""
    return _columns(conn, "messages") != set()


def is_halfway(conn: sqlite3.Connection) -> bool:
    """Whether some rows are in the former tables, and some in the present ones."""
    if not _columns(conn, _MOVING):
        return False
    return conn.execute("SELECT 1 FROM old_messages LIMIT 1").fetchone() is not None


def checks(conn: sqlite3.Connection) -> tuple[str, ...]:
    """The checks that this database supports."""
    if "pruned" in _columns(conn, "messages"):
        return _CHECKS
    return tuple(check.replace(_PRUNED, "") for check in _CHECKS)


def _columns(conn: sqlite3.Connection, name: str) -> set[str]:
    """The columns of a table; empty if it does not exist."""
    found = conn.execute(
        "SELECT c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c"
        " WHERE s.type = 'table' AND s.name = ?",
        (name,),
    )
    return {column for (column,) in found}
