"""Proof that the books agree: ledger, messages and balances, read in one transaction; and that the
audit trail is as it was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sqlite_utils import Database

from risala.engine.journal.audit import check as trail_check
from risala.engine.journal.audit import heads as trail_heads
from risala.engine.journal.audit import heads_file
from risala.engine.journal.store.schema import migrations as schema
from risala.engine.journal.store.sql import value_of
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.features import features
from risala.engine.model.records.upkeep.trail import AuditReport
from risala.engine.rules.trail.chain import EMPTY
from risala.engine.rules.trail.heads import Head

_FAULTS_MAX: Final = 50
"""Faults shown of each kind: a broken book would otherwise be printed in full."""
_HALFWAY: Final = (
    "The database is halfway to this version, and its books are in two places: start the service"
    " or any command, which brings it over, and try again."
)

_STATUS: Final = "(SELECT status FROM messages WHERE seq = m.key)"
_DIGITS: Final = " || ".join(
    f"substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (key >> {shift} & 31) + 1, 1)"
    for shift in range(58, 2, -5)
)
"""The first twelve digits of a key's id."""
_TABLES: Final = "SELECT name FROM sqlite_schema WHERE type = 'table'"
_COUNTED: Final = ("organizations", "message", "entry")

# Each query gives one sentence for each fault.
_CHECKS: Final[tuple[str, ...]] = (
    """SELECT 'organization ' || o.id || ': its balance is ' || o.balance
       || ' minor units, its ledger adds up to ' || coalesce(sum(e.amount), 0)
       FROM organizations o LEFT JOIN entry e ON e.organization = o.no
       GROUP BY o.id HAVING o.balance <> coalesce(sum(e.amount), 0)""",
    """SELECT 'ledger entry ' || seq || ': the balance after it is ' || balance_after
       || ', the entries up to it add up to ' || running FROM (
         SELECT seq, balance_after, sum(amount) OVER (
           PARTITION BY organization ORDER BY seq) AS running FROM entry)
       WHERE balance_after <> running""",
    """SELECT 'message ' || m.id || ': accepted and not charged its price of ' || m.price
       FROM message m LEFT JOIN entry e ON e.seq = m.charge AND e.kind = 0
       WHERE m.mode = 0 AND (m.charge IS NOT NULL OR m.price <> 0)
         AND (e.seq IS NULL OR e.organization <> m.organization
           OR coalesce(e.messages, 1) = 1 AND e.amount <> -m.price)""",
    """SELECT 'ledger entry ' || e.seq || ': a charge of ' || -e.amount || ' for '
       || coalesce(e.messages, 1) || ' messages; ' || c.messages || ' name it, which cost '
       || c.price FROM entry e JOIN (
         SELECT charge, count(*) AS messages, sum(price) AS price FROM message
         WHERE charge IS NOT NULL GROUP BY charge) c ON c.charge = e.seq
       WHERE c.messages <> coalesce(e.messages, 1)
         OR coalesce(e.messages, 1) > 1 AND c.price <> -e.amount""",
    f"""SELECT 'message ' || m.id || ': ' || {_STATUS} || ' and not refunded'
       FROM message m LEFT JOIN entry e ON e.message = m.key AND e.kind = 1
       WHERE m.mode = 0 AND m.charge IS NOT NULL AND m.status IN (5, 6)
         AND (e.seq IS NULL OR e.amount <> m.price)""",  # noqa: S608 -- constants
    f"""SELECT 'message ' || m.id || ': ' || {_STATUS} || ' and refunded all the same'
       FROM entry e JOIN message m ON m.key = e.message
       WHERE e.kind = 1 AND m.status NOT IN (5, 6)""",  # noqa: S608 -- constants
    """SELECT 'ledger entry ' || e.seq || ': a ' || CASE e.kind WHEN 0 THEN 'charge'
       ELSE 'refund' END || ' for ' || coalesce(e.reference, e.message)
       || ', which is no message' FROM entry e LEFT JOIN message m ON m.key = e.message
       WHERE e.kind IN (0, 1) AND m.key IS NULL""",
    f"""SELECT 'message ' || m.id || ': ' || {_STATUS}
       || ', but only 0 of its 1 segments were accepted' FROM message m
       WHERE m.segments = 1 AND m.mode = 0 AND m.status IN (2, 3, 4) AND m.pruned & 2 = 0
         AND coalesce(m.part_state, 0) NOT IN (3, 4, 5)""",  # noqa: S608 -- constants
    f"""SELECT 'message ' || m.id || ': ' || {_STATUS} || ', but only ' || count(s.number)
       || ' of its ' || m.segments || ' segments were accepted'
       FROM message m LEFT JOIN segment s ON s.message = m.key AND s.state IN (3, 4, 5)
       WHERE m.segments > 1 AND m.mode = 0 AND m.status IN (2, 3, 4) AND m.pruned & 2 = 0
       GROUP BY m.key HAVING coalesce(min(s.number), 1) > 0 AND count(s.number) <> m.segments""",  # noqa: S608 -- constants
    f"""SELECT 'message ' || id || ': it is kept by the key of another id' FROM message
       WHERE substr(id, 5, 12) <> {_DIGITS}""",  # noqa: S608 -- constants
    """SELECT 'message ' || id || ': its organization, its sender or its route is unknown'
       FROM message WHERE organization NOT IN (SELECT no FROM organizations)
         OR sender NOT IN (SELECT no FROM names) OR route NOT IN (SELECT no FROM names)""",
    """SELECT 'a segment or a line of the timeline belongs to no message: key ' || message FROM (
         SELECT message FROM segment UNION SELECT message FROM line)
       WHERE message NOT IN (SELECT key FROM message)""",
)
_OWN_PARTS: Final = (
    """SELECT 'organization ' || o.id || ': ' || sum(c.sent) || ' parts for which nobody pays, and '
       || sum(c.counted) || ' are counted by day' FROM (
         SELECT organization, segments AS sent, 0 AS counted FROM message
         WHERE mode = 0 AND charge IS NULL
         UNION ALL SELECT organization, 0, parts FROM day_parts) c
       JOIN organizations o ON o.no = c.organization
       GROUP BY o.id HAVING sum(c.sent) <> sum(c.counted)""",
    """SELECT 'ledger entry ' || e.seq || ': of message ' || m.id || ', for which nobody pays'
       FROM entry e JOIN message m ON m.key = e.message WHERE m.charge IS NULL""",
)
"""Checks of messages without a charge."""
_ALL_PAID: Final = (
    """SELECT 'message ' || id || ': accepted and not charged' FROM message
       WHERE mode = 0 AND charge IS NULL AND price = 0""",
)
"""The check of messages without a charge in a database from before there were such messages."""
_PUT_ASIDE: Final = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'old_*'"
"""Tables whose rows are being moved."""


def audit(conn: sqlite3.Connection, heads: Sequence[Head] = ()) -> AuditReport:
    """Check all books against each other. Reads all rows: time grows with the file.

    Args:
        heads: signed heads of the audit trail, which are compared with it.

    Raises:
        StorageUnusable: the database is halfway to this version, or of a development version.
    """
    conn.execute("BEGIN")
    try:
        schema.refuse_early(Database(conn, execute_plugins=False))
        if _is_halfway(conn):
            raise StorageUnusable(_HALFWAY)
        counts = [value_of(conn, f"SELECT count(*) FROM {table}") for table in _COUNTED]  # noqa: S608 -- constants
        there = {name for (name,) in conn.execute(_TABLES)}  # a file may be older than a feature
        theirs = [
            check
            for each in features()
            if each.books is not None and there.issuperset(each.tables)
            for check in each.books()
        ]
        faults = [
            sentence
            for check in (*_CHECKS, *theirs, *(_OWN_PARTS if _counts_parts(conn) else _ALL_PAID))
            for (sentence,) in conn.execute(f"{check} LIMIT {_FAULTS_MAX}")
        ]
        trail, compared = _trail(conn, heads)
    except schema.EarlySchema as error:
        raise StorageUnusable(f"The books cannot be audited: {error}.") from error
    finally:
        conn.execute("COMMIT")
    faults += [*trail.faults, *compared.faults]
    return AuditReport(
        counts[0],
        counts[1],
        counts[2],
        not faults,
        tuple(faults),
        lines=trail.lines,
        head=trail.end.hash,
        heads=len(heads),
        remarks=compared.remarks,
    )


def _trail(
    conn: sqlite3.Connection, heads: Sequence[Head]
) -> tuple[trail_check.TrailReport, trail_heads.Comparison]:
    """The check of the trail; a database from before its chain has nothing to check."""
    if schema.CHAIN not in schema.applied(Database(conn, execute_plugins=False)):
        return trail_check.TrailReport(EMPTY, 0, ()), trail_heads.Comparison((), ())
    report = trail_check.check(conn, _FAULTS_MAX)
    return report, trail_heads.compare(conn, heads, _FAULTS_MAX)


def _counts_parts(conn: sqlite3.Connection) -> bool:
    """Whether the database can tell what was sent without a charge."""
    return schema.OWN_PARTS in schema.applied(Database(conn, execute_plugins=False))


def _is_halfway(conn: sqlite3.Connection) -> bool:
    """Whether some rows are in the former tables, and some in the present ones."""
    names = [name for (name,) in conn.execute(_PUT_ASIDE)]
    return any(conn.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in names)  # noqa: S608 -- names of ours


def audit_file(path: Path, heads: Sequence[Head] = ()) -> AuditReport:
    """:func:`audit` with a separate read-only connection, for a worker thread.

    The heads that this data directory keeps are compared too.
    """
    conn = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
    try:
        return audit(
            conn, [*heads, *(each for each in heads_file.read(path.parent) if each not in heads)]
        )
    finally:
        conn.close()
