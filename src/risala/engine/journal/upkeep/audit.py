"""Proof that the books agree: ledger, messages and balances, read in one transaction."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from risala.engine.model.commands import AuditReport

_FAULTS_MAX: Final = 50
"""Shown of each kind: a broken book would otherwise print itself."""

# Each query gives one sentence for each fault that it finds.
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


def audit(conn: sqlite3.Connection) -> AuditReport:
    """Check every book against every other. Reads all rows: time grows with the file."""
    conn.execute("BEGIN")
    try:
        counts = [
            conn.execute(query).fetchone()[0]
            for query in (
                "SELECT count(*) FROM organizations",
                "SELECT count(*) FROM messages",
                "SELECT count(*) FROM ledger",
            )
        ]
        faults = [
            row[0] for check in _CHECKS for row in conn.execute(f"{check} LIMIT {_FAULTS_MAX}")
        ]
    finally:
        conn.execute("COMMIT")
    return AuditReport(counts[0], counts[1], counts[2], tuple(faults))


def audit_file(path: Path) -> AuditReport:
    """:func:`audit` over a read-only connection of its own, for a worker thread."""
    conn = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        return audit(conn)
    finally:
        conn.close()
