"""The table of verifications in which the user sends a text, or calls."""

from __future__ import annotations

from typing import Final

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
