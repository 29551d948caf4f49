"""The tables of people: users, their sign-in, and the mails that are owed to them.

None of them has a code or a token: codes are derived when a mail leaves, and of tokens only the
hash is stored.
"""

from __future__ import annotations

from typing import Final

PEOPLE: Final = """
CREATE TABLE users (
  id TEXT PRIMARY KEY NOT NULL,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  language TEXT NOT NULL,
  operator INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  seen_at INTEGER
) STRICT;
CREATE UNIQUE INDEX users_by_email ON users (email);

CREATE TABLE members (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL REFERENCES users (id),
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id)
) STRICT;
CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE invitations (
  id TEXT PRIMARY KEY NOT NULL,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  invited_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX invitations_by_organization_email ON invitations (organization_id, email);
CREATE INDEX invitations_by_email ON invitations (email);

CREATE TABLE web_sessions (
  id TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL,
  hash BLOB NOT NULL,
  previous_hash BLOB,
  previous_until INTEGER,
  stale INTEGER NOT NULL,
  agent TEXT NOT NULL,
  address TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX web_sessions_by_hash ON web_sessions (hash);
CREATE INDEX web_sessions_by_previous_hash ON web_sessions (previous_hash);
CREATE INDEX web_sessions_by_user ON web_sessions (user_id);
CREATE INDEX web_sessions_by_expires_at ON web_sessions (expires_at);

CREATE TABLE sign_in_requests (
  id TEXT PRIMARY KEY NOT NULL,
  browser BLOB NOT NULL,
  kind TEXT NOT NULL,
  email TEXT NOT NULL,
  language TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  mailed_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sign_in_requests_by_browser ON sign_in_requests (browser);
CREATE INDEX sign_in_requests_by_expires_at ON sign_in_requests (expires_at);

CREATE TABLE one_time_links (
  hash BLOB PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  kind TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX one_time_links_by_expires_at ON one_time_links (expires_at);

CREATE TABLE email_changes (
  user_id TEXT PRIMARY KEY NOT NULL REFERENCES users (id),
  id TEXT NOT NULL,
  email TEXT NOT NULL,
  old_confirmed INTEGER NOT NULL,
  new_confirmed INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE mails (
  seq INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  recipient TEXT NOT NULL,
  language TEXT NOT NULL,
  details TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  useless_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  outcome TEXT
) STRICT;
CREATE INDEX mails_due ON mails (due_at) WHERE settled_at IS NULL;
CREATE INDEX mails_settled ON mails (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE sign_in_failures (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  -- Of whose pages: customer, operator.
  kind TEXT NOT NULL,
  -- A user's address, else the hash of what was typed; empty: of no address alone.
  email TEXT NOT NULL,
  -- Of the client.
  address TEXT NOT NULL,
  -- wrong_code, not_allowed, expired, held_up, link, limited, slowed.
  reason TEXT NOT NULL,
  -- 1: somebody signed in on this browser with this address before.
  known_browser INTEGER NOT NULL,
  -- 1: the audit trail has a line for it.
  audited INTEGER NOT NULL,
  -- 1: the slow windows of an operator count it: a stranger's wrong code.
  slow INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sign_in_failures_by_address ON sign_in_failures (kind, email, at);
CREATE INDEX sign_in_failures_audited ON sign_in_failures (at) WHERE audited = 1;
CREATE INDEX sign_in_failures_slow ON sign_in_failures (seq) WHERE slow = 1;
"""

OPERATOR_ROLES: Final = """
-- administrator, finance, support, viewer; null: no operator.
ALTER TABLE users ADD COLUMN operator_role TEXT;
UPDATE users SET operator_role = 'administrator' WHERE operator = 1;
"""
