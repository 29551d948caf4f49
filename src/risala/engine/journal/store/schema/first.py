"""Late additions to the first two migrations, made while files already existed.

This was the only time that migrations were changed instead of followed by others: files of that
time have them on record and lack the additions.
"""

from __future__ import annotations

from typing import Final

from sqlite_utils import Database

_COLUMNS: Final = (
    ("organizations", "smart_encoding", "INTEGER NOT NULL DEFAULT 0"),
    ("organizations", "sms_per_s", "REAL CHECK (sms_per_s > 0)"),
    ("senders", "cleared", "INTEGER NOT NULL DEFAULT 0"),
    ("messages", "verification_id", "TEXT"),
)
_ACCEPTED_HOURS: Final = """
CREATE TABLE accepted_hours (
  organization_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  messages INTEGER NOT NULL,
  PRIMARY KEY (organization_id, hour)
) STRICT, WITHOUT ROWID
"""


def complete_first_tables(db: Database) -> None:
    """Add what is missing; for a file with the first two migrations and no other."""
    db.execute("BEGIN IMMEDIATE")
    try:
        for table, column, kind in _COLUMNS:
            if column not in db[table].columns_dict:
                db.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
        db.execute("CREATE INDEX IF NOT EXISTS senders_by_name ON senders (folded)")
        if "accepted_hours" not in db.table_names():
            db.execute(_ACCEPTED_HOURS)
            db.execute(
                "INSERT INTO accepted_hours SELECT organization_id, created_at / 3600000, count(*)"
                " FROM messages WHERE mode = 'live' GROUP BY 1, 2"
            )
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
