"""The tables of hooks: addresses that other software sends through."""

from __future__ import annotations

from typing import Final

HOOKS: Final = """
-- Addresses that other software sends through.
CREATE TABLE hooks (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  preset TEXT NOT NULL,
  name TEXT,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  -- How a caller proves itself.
  proof TEXT NOT NULL,
  -- What signs requests is kept as it is, any other secret by its hash.
  secret BLOB NOT NULL,
  last4 TEXT NOT NULL,
  -- The one before, which also works until then.
  old_secret BLOB,
  old_until INTEGER,
  -- JSON: whom its alerts go to; null: each request names its recipient.
  numbers TEXT,
  sender TEXT,
  locale TEXT,
  -- JSON: how a request is read and answered, where no preset says it.
  mapping TEXT,
  allowed_addresses TEXT,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  last_used_at INTEGER,
  disabled_at INTEGER
) STRICT;
CREATE INDEX hooks_by_organization ON hooks (organization_id);

-- Alerts of a hook within a window: after so many the others become one message at its end.
CREATE TABLE hook_storms (
  hook TEXT NOT NULL REFERENCES hooks (id),
  ends_at INTEGER NOT NULL,
  passed INTEGER NOT NULL,
  held INTEGER NOT NULL,
  -- Of the first one that is held.
  text TEXT,
  PRIMARY KEY (hook, ends_at)
) STRICT, WITHOUT ROWID;

-- Codes that other software made. They count in the hour of their number and organization as
-- sessions do.
CREATE TABLE hook_codes (
  message INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  recipient TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- The text with the code in it, encrypted; null: it has left or ended.
  sealed BLOB
) STRICT;
CREATE INDEX hook_codes_by_number ON hook_codes (organization_id, mode, recipient, created_at);
CREATE INDEX hook_codes_by_organization ON hook_codes (organization_id, mode, created_at);
CREATE INDEX hook_codes_by_time ON hook_codes (created_at) WHERE sealed IS NULL;
"""

ALARM_CHAINS: Final = """
-- Who is written to, in which order, until somebody answers.
CREATE TABLE alarm_chains (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  -- JSON: a line for each person, with their shift.
  people TEXT NOT NULL,
  interval_seconds INTEGER NOT NULL,
  rounds INTEGER NOT NULL,
  word TEXT NOT NULL,
  language TEXT NOT NULL,
  sender TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX alarm_chains_by_organization ON alarm_chains (organization_id, id);

CREATE TABLE alarms (
  id TEXT PRIMARY KEY,
  chain_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  text TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('going', 'answered', 'ended', 'unanswered')),
  steps INTEGER NOT NULL DEFAULT 0,
  -- The next step; null: it has ended.
  next_at INTEGER,
  raised_at INTEGER NOT NULL,
  raised_by TEXT NOT NULL,
  ended_at INTEGER,
  ended_by TEXT,
  -- What was raised before by the same key of its program is the same alarm.
  once TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX alarms_due ON alarms (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX alarms_going ON alarms (organization_id, id) WHERE state = 'going';
CREATE INDEX alarms_by_chain ON alarms (chain_id, id);
CREATE INDEX alarms_by_organization ON alarms (organization_id, id);
CREATE INDEX alarms_ended ON alarms (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX alarms_once ON alarms (organization_id, once) WHERE once IS NOT NULL;

CREATE TABLE alarm_steps (
  alarm_id TEXT NOT NULL REFERENCES alarms (id),
  step INTEGER NOT NULL,
  organization_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  number TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('sent', 'refused')),
  message_id TEXT,
  why TEXT,
  PRIMARY KEY (alarm_id, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX alarm_steps_by_number ON alarm_steps (number, at);

-- Of a hook whose alerts raise an alarm, the chain of that; null: they go to its numbers.
ALTER TABLE hooks ADD COLUMN alarm TEXT;
"""
