"""Credentials for faces other than the API, callbacks for messages, and hooks."""

from __future__ import annotations

from typing import Final

FACES: Final = """
CREATE TABLE face_credentials (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  -- The face that it is for: kannel, twilio, smpp, or what a plugin calls its own.
  face TEXT NOT NULL,
  username TEXT NOT NULL,
  hash BLOB NOT NULL,
  -- Of a password that is short: its hash is a slow one. Null: it is long and random.
  salt BLOB,
  -- What signs calls that are made for it; null: they are not signed.
  signer BLOB,
  last4 TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  name TEXT,
  -- Whom a message is from that names nobody; null: the service's own sender.
  sender TEXT,
  -- JSON: addresses and networks that it may be used from; null: any.
  allowed_addresses TEXT,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
-- A name is free again once its credential is revoked.
CREATE UNIQUE INDEX face_credentials_by_username ON face_credentials (face, username)
  WHERE revoked_at IS NULL;
CREATE INDEX face_credentials_by_organization ON face_credentials (organization_id, created_at);

-- Messages whose sender is called back as they go on.
CREATE TABLE face_callback (
  -- The message's key.
  message INTEGER PRIMARY KEY,
  credential TEXT NOT NULL,
  url TEXT NOT NULL,
  -- JSON: what the face wants to know of the request when it makes the call.
  told TEXT NOT NULL
) STRICT;

-- One call for one event of such a message.
CREATE TABLE face_call (
  -- The event's key.
  event INTEGER PRIMARY KEY,
  message INTEGER NOT NULL,
  credential TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'dropped')),
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  status INTEGER,
  error TEXT,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX face_call_due ON face_call (credential, due_at) WHERE state = 'pending';
CREATE INDEX face_call_by_message ON face_call (message);
"""

SMPP: Final = """
-- Of a message that is one part of a longer one, which its customer cut by themselves: the part's
-- place as one number (model/numbers.py). Null: it is no such part.
ALTER TABLE message ADD COLUMN part INTEGER;
-- 1: texts from phones to the organization go to this credential's receivers too.
ALTER TABLE face_credentials ADD COLUMN hears INTEGER NOT NULL DEFAULT 0;
"""

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
