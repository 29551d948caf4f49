"""The tables of the ledger, of what was spent by day, and of prices."""

from __future__ import annotations

from typing import Final

MONEY: Final = """
-- One charge for a request, however many messages it brought; a refund for a message.
CREATE TABLE entry (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  organization INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  balance_after INTEGER NOT NULL,
  -- Of a charge the first that it pays for, of a refund the one.
  message INTEGER,
  -- How many a charge pays for; null: one.
  messages INTEGER,
  -- Of what came by hand; null: the message's id.
  reference TEXT,
  note TEXT,
  -- Null: of a charge, when its message was accepted, by the key.
  at INTEGER
) STRICT;
CREATE INDEX entry_by_organization ON entry (organization);
CREATE UNIQUE INDEX entry_refunded_once ON entry (message) WHERE kind = 1;
-- People write references down in any case.
CREATE UNIQUE INDEX entry_credited_once ON entry (reference COLLATE NOCASE) WHERE kind = 2;
-- Top-ups and adjustments are few among the charges.
CREATE INDEX entry_by_hand ON entry (organization) WHERE kind >= 2;

-- Charged by day of the organization's own calendar, as days since 1970-01-01.
CREATE TABLE spending (
  organization_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day)
) STRICT, WITHOUT ROWID;

-- An organization's own prices of a segment abroad; the longest prefix counts.
CREATE TABLE organization_prices (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  prefix TEXT NOT NULL,
  price INTEGER NOT NULL CHECK (price >= 0),
  PRIMARY KEY (organization_id, prefix)
) STRICT, WITHOUT ROWID;
"""

DAY_PARTS: Final = """
-- Parts for which nobody pays, by day of the organization's own calendar, as days since 1970-01-01.
CREATE TABLE day_parts (
  organization INTEGER NOT NULL,
  day INTEGER NOT NULL,
  parts INTEGER NOT NULL,
  PRIMARY KEY (organization, day)
) STRICT, WITHOUT ROWID;
"""
