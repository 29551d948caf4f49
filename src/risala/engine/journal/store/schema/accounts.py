"""The tables of organizations, their API keys, senders and settings."""

from __future__ import annotations

from typing import Final

ACCOUNTS: Final = """
CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'suspended')),
  balance INTEGER NOT NULL DEFAULT 0 CHECK (balance >= 0),
  currency TEXT NOT NULL,
  price_per_segment INTEGER CHECK (price_per_segment >= 0),
  smart_encoding INTEGER NOT NULL DEFAULT 0,
  sms_per_s REAL CHECK (sms_per_s > 0),
  created_at INTEGER NOT NULL,
  -- Null: the general one.
  low_balance INTEGER CHECK (low_balance >= 0),
  -- The most that may be charged a day, in minor units: the operator's number, and the owner's.
  spend_cap INTEGER CHECK (spend_cap >= 0),
  owner_spend_cap INTEGER CHECK (owner_spend_cap >= 0),
  -- By whose midnight a day ends.
  time_zone TEXT NOT NULL DEFAULT 'Africa/Nouakchott',
  -- What rows of messages and money carry for its id.
  no INTEGER,
  -- Null: it is not deleted. What is deleted is suspended as well, so that nothing of it is sent.
  deleted_at INTEGER,
  -- 1: answers with the fields and states of the service's specification alone.
  lean_answers INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX organizations_by_no ON organizations (no);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  type TEXT NOT NULL CHECK (type IN ('secret', 'publishable')),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  name TEXT,
  hash BLOB NOT NULL UNIQUE,
  last4 TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  -- A JSON list; null: any origin.
  allowed_origins TEXT,
  -- JSON: addresses and networks that a key may be used from; null: any.
  allowed_addresses TEXT,
  -- Of a key that was rotated: the value before, which holds until then.
  old_hash BLOB,
  old_last4 TEXT,
  old_until INTEGER,
  -- 1: the answer of a send by this key has no messageId.
  without_id INTEGER NOT NULL DEFAULT 0,
  -- Whom to ask about a key; null: nobody is named.
  contact TEXT
) STRICT;
CREATE INDEX api_keys_by_organization ON api_keys (organization_id, created_at);
CREATE UNIQUE INDEX api_keys_by_old_hash ON api_keys (old_hash) WHERE old_hash IS NOT NULL;

CREATE TABLE senders (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied')),
  cleared INTEGER NOT NULL DEFAULT 0,
  description TEXT NOT NULL DEFAULT '',
  reason TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- Since when an operator has nothing against a name; null where they do.
  cleared_at INTEGER,
  UNIQUE (organization_id, folded)
) STRICT;
CREATE INDEX senders_by_name ON senders (folded);

CREATE TABLE verify_settings (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  settings TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Countries that an operator opened for an organization. Home is open to everybody, without a row.
CREATE TABLE opened_countries (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  -- ISO 3166-1, two letters.
  country TEXT NOT NULL,
  -- For messages, for codes by secret keys, or for codes by publishable keys.
  what TEXT NOT NULL CHECK (what IN ('send', 'verify', 'publishable')),
  PRIMARY KEY (organization_id, country, what)
) STRICT, WITHOUT ROWID;
"""

KEY_EXPIRY: Final = """
-- From when on a key is refused; null: never.
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
-- The client's address of its last use; null: unknown, or a publishable key.
ALTER TABLE api_keys ADD COLUMN last_used_address TEXT;
"""

KEY_CHALLENGES: Final = """
-- When a publishable key's codes want work of the visitor's browser first.
ALTER TABLE api_keys ADD COLUMN challenge TEXT NOT NULL DEFAULT 'never'
  CHECK (challenge IN ('never', 'when_suspicious', 'always'));
"""

KEY_REMINDERS: Final = """
-- When its owners were last told that a key expires soon; null: never.
ALTER TABLE api_keys ADD COLUMN reminded_at INTEGER;
CREATE INDEX api_keys_by_expiry ON api_keys (expires_at) WHERE expires_at IS NOT NULL;
"""

KEY_AGES: Final = """
-- When a key's present value was made; null: with the key.
ALTER TABLE api_keys ADD COLUMN value_at INTEGER;
-- The most days that a value of its keys works; null: no rule of its own.
ALTER TABLE organizations ADD COLUMN key_age_days INTEGER CHECK (key_age_days > 0);
CREATE INDEX organizations_by_key_age ON organizations (key_age_days)
  WHERE key_age_days IS NOT NULL;

-- The networks that secret keys were used from.
CREATE TABLE key_places (
  key_id TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  -- 203.0.113.0/24, or an IPv6 /48.
  network TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, network)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_places_by_last ON key_places (last_at);
CREATE INDEX key_places_by_first ON key_places (first_at);
"""

SETTLED_MS: Final = 86_400_000
"""A place is new if the key was in use elsewhere for so long before: a program's first day on
several machines is none of that."""
IS_NEW_PLACE: Final = (
    "EXISTS (SELECT 1 FROM key_places o WHERE o.key_id = p.key_id"  # noqa: S608 -- constants
    f" AND o.first_at <= p.first_at - {SETTLED_MS})"
)
"""Whether a place `p` is new."""

FIXED_NUMBERS: Final = """
-- Numbers whose users enter a fixed code until an end: reviewers of app stores.
CREATE TABLE fixed_numbers (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  number TEXT NOT NULL,
  -- Sealed.
  code TEXT NOT NULL,
  ends_at INTEGER NOT NULL,
  set_at INTEGER NOT NULL,
  set_by TEXT NOT NULL,
  -- When its owners were told of its end; null: not yet.
  reminded_at INTEGER,
  UNIQUE (organization_id, number)
) STRICT, WITHOUT ROWID;
"""
