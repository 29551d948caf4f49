"""The audit trail: who did what by hand. It grows and is never changed; its lines form a chain."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from sqlite_utils import Database

from risala.engine.rules.trail.chain import COLUMNS, EMPTY, ChainEnd, hash_of

END_KEY: Final = "audit_head"
"""The key in ``meta`` of the last line, as :attr:`ChainEnd.text` writes it."""
_ROWS_AT_ONCE: Final = 1000
"""Lines that are chained between two reads: few enough for little memory."""

TRIGGERS: Final = """
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
-- The trigger on deletes is not asked when a line is replaced.
CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log
  WHEN EXISTS (SELECT 1 FROM audit_log WHERE seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
"""
"""What refuses changes; a check compares a file's own with these."""

AUDIT: Final = f"""
CREATE TABLE audit_log (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  who TEXT NOT NULL,
  face TEXT NOT NULL,
  role TEXT NOT NULL,
  action TEXT NOT NULL,
  organization_id TEXT,
  subject TEXT,
  -- JSON; null: it did not exist, or nothing is recorded.
  before TEXT,
  after TEXT
) STRICT;
CREATE INDEX audit_log_by_organization ON audit_log (organization_id, seq);
-- The last editor of an object: an edit is compared with it.
CREATE INDEX audit_log_by_subject_seq ON audit_log (subject, seq);
-- Times, not numbers of lines: a clock that was set back has lines out of their order.
CREATE INDEX audit_log_by_time ON audit_log (at);
CREATE INDEX audit_log_by_organization_time ON audit_log (organization_id, at);
CREATE INDEX audit_log_by_action_time ON audit_log (action, at);
{TRIGGERS}"""

ADD_HASH: Final = """
DROP TRIGGER audit_log_no_update;
-- In hexadecimal: over the line, and over the hash of the one before it.
ALTER TABLE audit_log ADD COLUMN hash TEXT NOT NULL DEFAULT '';
"""
GUARD_AGAIN: Final = """
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
"""


def chain_lines(db: Database) -> None:
    """Chain the lines that are there, and add one that says how many there were.

    Before this line nothing showed a change; a reader can tell by it.
    """
    conn: sqlite3.Connection = db.conn
    end, at = EMPTY, 0
    columns = ", ".join(COLUMNS)
    while True:
        rows: Sequence[Sequence[Any]] = conn.execute(
            f"SELECT {columns} FROM audit_log WHERE seq > ? ORDER BY seq LIMIT ?",  # noqa: S608 -- constants
            (end.seq, _ROWS_AT_ONCE),
        ).fetchall()
        for seq, at, *values in rows:
            end = ChainEnd(seq, hash_of(end.hash, (seq, at, *values)))
            conn.execute("UPDATE audit_log SET hash = ? WHERE seq = ?", (end.hash, end.seq))
        if not rows:
            break
    if end == EMPTY:
        return
    details = f'{{"lines": {end.seq}}}'
    last = (end.seq + 1, at, "risala", "system", "system", "audit.chain", None, None, None, details)
    end = ChainEnd(end.seq + 1, hash_of(end.hash, last))
    places = ", ".join("?" * (len(last) + 1))
    conn.execute(
        f"INSERT INTO audit_log ({columns}, hash) VALUES ({places})",  # noqa: S608 -- constants
        (*last, end.hash),
    )
    conn.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (END_KEY, end.text))
