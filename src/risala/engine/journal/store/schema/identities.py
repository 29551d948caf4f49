"""The tables of accounts at identity providers, and of organizations' own providers with their
domains. They have no token: none is kept."""

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
