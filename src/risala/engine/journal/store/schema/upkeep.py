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


# The tables of alerts: present and past problems, their receivers, and usual rates.

ALERTS: Final = """
CREATE TABLE alerts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  -- A carrier, a network, an organization …; empty: the service.
  subject TEXT NOT NULL,
  -- JSON: what was measured when it was raised, and when it was over.
  facts TEXT NOT NULL,
  over_facts TEXT NOT NULL DEFAULT '{}',
  raised_at INTEGER NOT NULL,
  -- Null: it goes on.
  over_at INTEGER,
  -- How often it had come back within a day.
  flaps INTEGER NOT NULL DEFAULT 0,
  -- When mails and calls were owed; null: it is, or was, muted.
  told_at INTEGER,
  acknowledged_at INTEGER,
  acknowledged_by TEXT
) STRICT;
-- One thing is wrong once.
CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject) WHERE over_at IS NULL;
CREATE INDEX alerts_over ON alerts (over_at) WHERE over_at IS NOT NULL;

CREATE TABLE alert_mutes (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  -- Null: whatever the subject is.
  subject TEXT,
  until INTEGER NOT NULL,
  by TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

-- Calls to the operator's own addresses: owed until settled.
CREATE TABLE alert_calls (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  alert INTEGER NOT NULL,
  -- raised, over
  what TEXT NOT NULL,
  url TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  settled_at INTEGER,
  outcome TEXT
) STRICT;
CREATE INDEX alert_calls_owed ON alert_calls (due_at) WHERE settled_at IS NULL;

-- How networks did, hour by hour, as it was known soon after each: what is usual is made of it.
CREATE TABLE alert_hours (
  hour INTEGER NOT NULL,
  network TEXT NOT NULL,
  accepted INTEGER NOT NULL,
  delivered INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  approved INTEGER NOT NULL,
  PRIMARY KEY (hour, network)
) STRICT, WITHOUT ROWID;

-- Carriers that have given receipts, and when they were last known to.
CREATE TABLE alert_receipts (
  carrier TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

ENDS: Final = """
-- When its receipts were last known to end messages; null: not known to.
ALTER TABLE alert_receipts ADD COLUMN ended_at INTEGER;
"""
