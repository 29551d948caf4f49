"""The tables of incoming messages: their routes, and opt-outs."""

from __future__ import annotations

from typing import Final

INBOUND: Final = """
ALTER TABLE inbound ADD COLUMN organization_id TEXT;
CREATE INDEX inbound_by_organization ON inbound (organization_id, id)
  WHERE organization_id IS NOT NULL;

-- An empty recipient is any number, an empty keyword any first word.
CREATE TABLE inbound_routes (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  recipient TEXT NOT NULL,
  keyword TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (recipient, keyword)
) STRICT;

-- Organizations whose recipients may opt out; while there are none nobody's writing is noted.
CREATE TABLE opt_out_policies (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE last_writers (
  recipient TEXT NOT NULL,
  carrier TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  PRIMARY KEY (recipient, carrier)
) STRICT, WITHOUT ROWID;

CREATE TABLE opt_outs (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  recipient TEXT NOT NULL,
  carrier TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, recipient)
) STRICT, WITHOUT ROWID;
CREATE INDEX opt_outs_by_recipient ON opt_outs (recipient, carrier, at);
"""

WHO_AND_WHEN: Final = """
-- By whom: null, by a message of the number itself, which said the keyword.
ALTER TABLE opt_outs ADD COLUMN who TEXT;
ALTER TABLE opt_outs ADD COLUMN keyword TEXT;
CREATE INDEX opt_outs_by_organization ON opt_outs (organization_id, at);
CREATE INDEX inbound_by_sender ON inbound (sender, id);

-- Since when an operator has nothing against a name; null where they do, or nobody knows.
ALTER TABLE senders ADD COLUMN cleared_at INTEGER;
UPDATE senders SET cleared_at = (SELECT max(at) FROM audit_log
  WHERE subject = senders.id AND action IN ('sender.clear', 'sender.waive')) WHERE cleared = 1
"""

LAST_WRITERS: Final = """
-- When, so that an older one never takes the place of a newer.
ALTER TABLE last_writers ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
"""
