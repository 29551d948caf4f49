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


# The tables of second factors. A seed is sealed; of a recovery code there is only a hash.

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


# The tables of accounts at identity providers, and of organizations' own providers with their
# domains. They have no token: none is kept.

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

PROVIDERS: Final = """
CREATE TABLE identity_providers (
  organization_id TEXT PRIMARY KEY NOT NULL REFERENCES organizations (id),
  issuer TEXT NOT NULL,
  client_id TEXT NOT NULL,
  -- Sealed; null: a public client.
  client_secret TEXT,
  label TEXT NOT NULL,
  -- Lists are JSON.
  role_claim TEXT NOT NULL,
  owner_values TEXT NOT NULL,
  developer_values TEXT NOT NULL,
  viewer_values TEXT NOT NULL,
  default_role TEXT,
  verified_claim TEXT NOT NULL,
  two_factors TEXT NOT NULL,
  -- 1: members enter by it alone.
  required INTEGER NOT NULL,
  session_hours INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE provider_domains (
  organization_id TEXT NOT NULL REFERENCES identity_providers (organization_id),
  domain TEXT NOT NULL,
  -- An operator said that it is the organization's; null: nobody yet, and it does nothing.
  confirmed_at INTEGER,
  PRIMARY KEY (organization_id, domain)
) STRICT, WITHOUT ROWID;
-- A domain is one organization's.
CREATE UNIQUE INDEX provider_domains_confirmed ON provider_domains (domain)
  WHERE confirmed_at IS NOT NULL;

-- Accounts at providers: those of the console's have no organization.
CREATE TABLE provider_identities (
  organization_id TEXT NOT NULL,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id),
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, issuer, subject)
) STRICT, WITHOUT ROWID;
INSERT INTO provider_identities
  SELECT '', issuer, subject, user_id, created_at, used_at FROM identities;
DROP TABLE identities;
ALTER TABLE provider_identities RENAME TO identities;
CREATE UNIQUE INDEX identities_by_user ON identities (user_id, organization_id, issuer);

-- A session by an organization's provider enters this organization alone; null: by another way.
ALTER TABLE web_sessions ADD COLUMN organization_id TEXT;
CREATE INDEX web_sessions_by_organization ON web_sessions (organization_id)
  WHERE organization_id IS NOT NULL;
"""


# The tables of four eyes: what waits for a second operator, and what each did alone.

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
