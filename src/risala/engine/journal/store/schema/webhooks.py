"""The tables of events and webhooks: endpoints, deliveries (an event to an endpoint), attempts at
them."""

from __future__ import annotations

from typing import Final

WEBHOOKS: Final = """
CREATE TABLE event (
  key INTEGER PRIMARY KEY,
  type INTEGER NOT NULL,
  organization INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  -- A message's key, or the id of what else it tells of.
  subject ANY NOT NULL,
  -- Null: by the key.
  at INTEGER,
  -- JSON: what of the body its subject's rows do not say for ever.
  frozen TEXT,
  -- Of a subject without a row; null: it is made of the subject's row.
  body TEXT
) STRICT;

CREATE TABLE event_cursors (
  -- Who reads: sink:NAME.
  consumer TEXT PRIMARY KEY,
  -- The key of the last event that it has; what is newer is owed to it.
  seq INTEGER NOT NULL,
  -- The number of the organization whose events it follows; null: those of all.
  organization INTEGER,
  -- Bit n: it follows the events of type n.
  types INTEGER NOT NULL,
  moved_at INTEGER NOT NULL,
  -- Events that retention deleted before it had them, and when the last of them went.
  missed INTEGER NOT NULL DEFAULT 0,
  missed_at INTEGER
) STRICT;

CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
  url TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  types TEXT NOT NULL,
  headers TEXT NOT NULL DEFAULT '{}',
  notify TEXT,
  enabled INTEGER NOT NULL DEFAULT 1,
  disabled_reason TEXT CHECK (disabled_reason IN ('owner', 'gone', 'failing')),
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  failing_since INTEGER,
  notice_due_at INTEGER,
  notice_tries INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  -- The header of a second signature, t=...,v1=...; null: there is only the scheme's own.
  signature_header TEXT,
  -- The key of the second signature: the secret as it is shown, or what its base64 stands for.
  signature_key TEXT NOT NULL DEFAULT 'text' CHECK (signature_key IN ('text', 'decoded')),
  -- How it gets received messages: as an event, or in another program's shape.
  shape TEXT NOT NULL DEFAULT 'event',
  template TEXT NOT NULL DEFAULT ''
) STRICT;
-- Looked at for every event: an organization without endpoints costs one empty look.
CREATE INDEX webhook_endpoints_listening ON webhook_endpoints (organization_id, mode)
  WHERE enabled = 1;
CREATE INDEX webhook_endpoints_by_organization ON webhook_endpoints (organization_id, id);
CREATE INDEX webhook_endpoints_notices ON webhook_endpoints (notice_due_at)
  WHERE notice_due_at IS NOT NULL;

CREATE TABLE webhook_delivery (
  seq INTEGER PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id),
  event INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed', 'dropped')),
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0,
  status INTEGER,
  error TEXT,
  excerpt TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  delivered_at INTEGER,
  UNIQUE (event, endpoint_id)
) STRICT;
CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, due_at)
  WHERE state = 'pending';
CREATE INDEX webhook_delivery_failed ON webhook_delivery (endpoint_id, created_at)
  WHERE state = 'failed';
CREATE INDEX webhook_delivery_log ON webhook_delivery (endpoint_id);

CREATE TABLE webhook_attempts (
  delivery INTEGER NOT NULL REFERENCES webhook_delivery (seq),
  n INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  status INTEGER,
  error TEXT,
  excerpt TEXT,
  PRIMARY KEY (delivery, n)
) STRICT, WITHOUT ROWID;
"""

REPLIES: Final = """
-- Whether a reply in its answer to a received text is sent to who wrote it.
ALTER TABLE webhook_endpoints ADD COLUMN may_reply INTEGER NOT NULL DEFAULT 0;
-- What became of the reply in the answer: a word of the feature's. Null: it had none.
ALTER TABLE webhook_attempts ADD COLUMN reply TEXT;
"""
