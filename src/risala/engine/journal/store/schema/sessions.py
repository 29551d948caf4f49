"""Tables beside those of verification sessions: the channels that organizations opened, the
deliveries of sessions by them, and sessions in which the user sends a text, or calls."""

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


REVERSE: Final = """
-- Sessions without a code: their user sends a text, or calls.
CREATE TABLE reverse_sessions (
  verification_id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- inbound_sms or missed_call.
  method TEXT NOT NULL,
  -- Our number, and the carrier that has it.
  send_to TEXT NOT NULL,
  carrier TEXT NOT NULL,
  -- What the text begins with: the organization's name.
  name TEXT NOT NULL,
  locale TEXT,
  -- SHA-256 of what stands in the address of its page.
  token BLOB NOT NULL UNIQUE,
  -- A keyed mark of the word in the text; null: there is none, or the session is over.
  word TEXT,
  -- Who has to send or call; null: anybody may, or the session is over.
  number TEXT,
  -- Why a text with the word did not count: other_number, untrusted, withheld.
  refused TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX reverse_sessions_word ON reverse_sessions (word) WHERE word IS NOT NULL;
CREATE INDEX reverse_sessions_caller ON reverse_sessions (number, created_at)
  WHERE number IS NOT NULL;
CREATE INDEX reverse_sessions_by_organization
  ON reverse_sessions (organization_id, verification_id);
"""
