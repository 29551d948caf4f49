"""Indexes and tables for the operator's console: the trail by time, counts of all."""

from __future__ import annotations

from typing import Final

CONSOLE: Final = """
-- Times, not numbers of lines: a clock that was set back has lines out of their order.
CREATE INDEX audit_log_by_time ON audit_log (at);
CREATE INDEX audit_log_by_organization_time ON audit_log (organization_id, at);
CREATE INDEX audit_log_by_action_time ON audit_log (action, at);
DROP INDEX audit_log_by_action;
-- The trigger on deletes is not asked when a line is replaced.
CREATE TRIGGER audit_log_no_replace BEFORE INSERT ON audit_log
  WHEN EXISTS (SELECT 1 FROM audit_log WHERE seq = NEW.seq)
  BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;

-- Live messages by the minute in which they were accepted, or came to their end.
CREATE TABLE minute_count (
  -- Since 1970-01-01.
  minute INTEGER NOT NULL,
  -- A message's status as a number; 0: accepted.
  outcome INTEGER NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (minute, outcome)
) STRICT, WITHOUT ROWID;

-- Why live messages failed or were not delivered, by the hour of their end.
CREATE TABLE failure_count (
  hour INTEGER NOT NULL,
  cause TEXT NOT NULL,
  -- Empty: none was asked.
  carrier TEXT NOT NULL,
  -- The carrier's own; empty: it said none, or there were too many different ones.
  word TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (hour, cause, carrier, word)
) STRICT, WITHOUT ROWID;
"""
