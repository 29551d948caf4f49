"""The tables of credentials other than API keys, and of calls back for messages."""

from __future__ import annotations

from typing import Final

COMPAT: Final = """
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
  revoked_at INTEGER,
  -- 1: texts from phones to the organization go to this credential's receivers too.
  hears INTEGER NOT NULL DEFAULT 0
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
