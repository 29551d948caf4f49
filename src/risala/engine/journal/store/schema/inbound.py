"""The tables of incoming messages: their routes, and opt-outs."""

from __future__ import annotations

from typing import Final

INBOUND: Final = """
CREATE TABLE inbound (
  id TEXT PRIMARY KEY,
  carrier TEXT NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT,
  body TEXT NOT NULL,
  carrier_ids TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  -- Null: nobody's.
  organization_id TEXT
) STRICT;
CREATE UNIQUE INDEX inbound_once ON inbound (carrier, carrier_ids) WHERE carrier_ids <> '';
CREATE INDEX inbound_by_organization ON inbound (organization_id, id)
  WHERE organization_id IS NOT NULL;
CREATE INDEX inbound_by_writer ON inbound (organization_id, sender)
  WHERE organization_id IS NOT NULL;
CREATE INDEX inbound_by_sender ON inbound (sender, id);

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
  -- When, so that an older one never takes the place of a newer.
  at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (recipient, carrier)
) STRICT, WITHOUT ROWID;

CREATE TABLE opt_outs (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  recipient TEXT NOT NULL,
  carrier TEXT NOT NULL,
  at INTEGER NOT NULL,
  -- By whom: null, by a message of the number itself, which said the keyword.
  who TEXT,
  keyword TEXT,
  PRIMARY KEY (organization_id, recipient)
) STRICT, WITHOUT ROWID;
CREATE INDEX opt_outs_by_recipient ON opt_outs (recipient, carrier, at);
CREATE INDEX opt_outs_by_organization ON opt_outs (organization_id, at);
"""

SENT_TIMES: Final = """
-- A text's own time, by the network. Null: none was told, or it came before this was kept.
ALTER TABLE inbound ADD COLUMN sent_at INTEGER;
ALTER TABLE bank_texts ADD COLUMN sent_at INTEGER;
"""

LABELS: Final = """
-- How the carrier labelled the text and how it was read. Null: it was read as labelled, or came
-- before this was kept.
ALTER TABLE inbound ADD COLUMN label TEXT;
"""
