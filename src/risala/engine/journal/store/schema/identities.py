"""The table of accounts at identity providers. It has no token: none is kept."""

from __future__ import annotations

from typing import Final

IDENTITIES: Final = """
CREATE TABLE identities (
  -- The provider, and what it calls the person: never given to another one.
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX identities_by_user ON identities (user_id, issuer);

-- 1: an identity provider says that two factors were shown.
ALTER TABLE web_sessions ADD COLUMN two_factors INTEGER NOT NULL DEFAULT 0;
"""
