"""The tables of second factors. A seed is sealed; of a recovery code there is only a hash."""

from __future__ import annotations

from typing import Final

FACTORS: Final = """
CREATE TABLE factors (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  -- app, passkey.
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- Of a passkey: the host that it is for.
  site TEXT NOT NULL,
  -- Of a passkey: its id at the authenticator.
  credential BLOB NOT NULL,
  -- Of a passkey.
  public_key BLOB NOT NULL,
  -- Of an app: its seed, sealed with the sealing key.
  seed TEXT NOT NULL,
  -- Of an app: the time step of the last accepted code; of a passkey: the count of its signatures.
  counter INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
CREATE INDEX factors_by_user ON factors (user_id);
CREATE UNIQUE INDEX factors_by_credential ON factors (credential) WHERE kind = 'passkey';

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id),
  hash BLOB NOT NULL,
  -- Null: not used.
  used_at INTEGER,
  PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

-- When its user last showed who they are.
ALTER TABLE web_sessions ADD COLUMN fresh_at INTEGER NOT NULL DEFAULT 0;
-- Whose second factor is awaited: the code was right; null: the code is awaited.
ALTER TABLE sign_in_requests ADD COLUMN user_id TEXT;
-- 1: members need a second factor.
ALTER TABLE organizations ADD COLUMN factor_required INTEGER NOT NULL DEFAULT 0;
"""
