"""The audit trail: who did what by hand. It grows and is never changed."""

from __future__ import annotations

from typing import Final

AUDIT: Final = """
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
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
-- The trigger on deletes is not asked when a line is replaced.
CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log
  WHEN EXISTS (SELECT 1 FROM audit_log WHERE seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
"""
