"""The table of payments: what organizations pay to top up, step by step."""

from __future__ import annotations

from typing import Final

PAYMENTS: Final = """
CREATE TABLE payments (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  method TEXT NOT NULL,
  -- Minor units that the customer wants to pay.
  amount INTEGER NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL,
  -- Of the customer's pages.
  language TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('begun', 'waiting', 'confirmed', 'refused')),
  -- 1: an operator's word settles it; 0: its provider's.
  by_operator INTEGER NOT NULL DEFAULT 0,
  -- As it was written, and as it is compared.
  reference TEXT,
  reference_key TEXT,
  -- JSON: texts by language; what the customer enters next, and has entered.
  instructions TEXT NOT NULL DEFAULT '{}',
  checkout_url TEXT,
  asks TEXT NOT NULL DEFAULT '[]',
  entered TEXT NOT NULL DEFAULT '{}',
  -- Of a refusal: a word, and JSON of texts by language.
  cause TEXT,
  why TEXT NOT NULL DEFAULT '{}',
  -- Of a confirmed one: whose reference it is, what really came, from whom, and its ledger entry.
  provider TEXT,
  paid INTEGER CHECK (paid > 0),
  payer TEXT,
  entry INTEGER UNIQUE REFERENCES entry (seq),
  begun_by TEXT NOT NULL,
  -- Null: nobody yet, or its provider.
  decided_by TEXT,
  begun_at INTEGER NOT NULL,
  claimed_at INTEGER,
  decided_at INTEGER,
  -- Null: it does not expire.
  expires_at INTEGER,
  CHECK ((state = 'confirmed') = (entry IS NOT NULL)),
  CHECK ((state = 'confirmed') = (paid IS NOT NULL AND provider IS NOT NULL))
) STRICT;
CREATE INDEX payments_by_organization ON payments (organization_id, id);
-- What is still to be decided is little among all that was paid.
CREATE INDEX payments_open ON payments (id) WHERE state IN ('begun', 'waiting');
CREATE INDEX payments_by_reference ON payments (reference_key) WHERE reference_key IS NOT NULL;
-- A provider's reference is credited once, for ever.
CREATE UNIQUE INDEX payments_credited_once ON payments (provider, reference_key)
  WHERE state = 'confirmed';
"""
