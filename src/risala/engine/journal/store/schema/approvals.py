"""The tables of four eyes: what waits for a second operator, and what each did alone."""

from __future__ import annotations

from typing import Final

APPROVALS: Final = """
CREATE TABLE approvals (
  id TEXT PRIMARY KEY NOT NULL,
  -- The operation, and its arguments as JSON.
  kind TEXT NOT NULL,
  arguments TEXT NOT NULL,
  -- Minor units that count against the limit; null: it always needs two.
  amount INTEGER,
  organization_id TEXT,
  -- JSON: what it would change, as it was when it was asked.
  seen TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  -- The user's id, or the machine's user: it stays when an address changes.
  asked_key TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- pending, confirmed, refused; a pending one is expired from expires_at on.
  state TEXT NOT NULL,
  decided_by TEXT,
  decided_at INTEGER,
  why TEXT
) STRICT;
CREATE INDEX approvals_pending ON approvals (asked_at) WHERE state = 'pending';
CREATE INDEX approvals_decided ON approvals (decided_at) WHERE state <> 'pending';

-- What an operator did alone on a day (since 1970-01-01, UTC), in minor units.
CREATE TABLE alone_sums (
  who TEXT NOT NULL,
  day INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (who, day)
) STRICT, WITHOUT ROWID;
"""
