"""The tables of channels: what organizations opened, and the deliveries of sessions."""

from __future__ import annotations

from typing import Final

CHANNELS: Final = """
-- A row for each organization that opened another channel than SMS.
CREATE TABLE channel_uses (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  -- JSON: names, in order.
  channels TEXT NOT NULL,
  secret TEXT NOT NULL,
  publishable TEXT NOT NULL,
  fallback_s INTEGER NOT NULL,
  addresses INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions whose code may come by several channels.
CREATE TABLE channel_sessions (
  verification_id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  -- With commas between.
  channels TEXT NOT NULL,
  key_type TEXT NOT NULL,
  locale TEXT,
  -- The SMS, complete except for the code; null: the session is over.
  text TEXT,
  fallback_ms INTEGER NOT NULL,
  -- So far, those included that did not leave.
  deliveries INTEGER NOT NULL,
  -- Of the last delivery; null: it did not leave.
  message_id TEXT,
  -- Null: none begins by itself.
  next_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_sessions_due ON channel_sessions (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE channel_deliveries (
  verification_id TEXT NOT NULL,
  n INTEGER NOT NULL,
  channel TEXT NOT NULL,
  -- The message's key; null: it did not leave.
  message INTEGER,
  at INTEGER NOT NULL,
  PRIMARY KEY (verification_id, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_deliveries_of_message ON channel_deliveries (message)
  WHERE message IS NOT NULL;
"""
