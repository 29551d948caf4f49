"""The tables of the file's own facts, of owners' retention days, erasures and exports."""

from __future__ import annotations

from typing import Final

UPKEEP: Final = """
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Days that an owner keeps things for; null: as the operator has set it.
CREATE TABLE kept_days (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  texts INTEGER CHECK (texts > 0),
  events INTEGER CHECK (events > 0),
  inbound INTEGER CHECK (inbound > 0)
) STRICT, WITHOUT ROWID;

-- What is taken out, of a number or of a whole organization, in steps that note where they are.
CREATE TABLE erasures (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  -- Null: all of the organization, or it is done; the last digits stay.
  number TEXT,
  last4 TEXT,
  asked_by TEXT NOT NULL,
  step INTEGER NOT NULL DEFAULT 0,
  place TEXT NOT NULL DEFAULT '',
  -- JSON: how much of what is gone.
  gone TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX erasures_under_way ON erasures (created_at) WHERE ended_at IS NULL;
CREATE INDEX erasures_by_organization ON erasures (organization_id, created_at);

-- Files that owners asked for, with everything in them that is theirs.
CREATE TABLE exports (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  asked_by TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('writing', 'ready', 'failed', 'gone')),
  reason TEXT,
  written INTEGER NOT NULL DEFAULT 0,
  expected INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  expires_at INTEGER
) STRICT;
CREATE INDEX exports_by_organization ON exports (organization_id, created_at);
CREATE INDEX exports_standing ON exports (created_at) WHERE state IN ('writing', 'ready');
"""
