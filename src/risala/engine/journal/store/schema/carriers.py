"""The tables of carriers' data that is not in the settings, and of receipts without a message."""

from __future__ import annotations

from typing import Final

CARRIERS: Final = """
-- What drivers must not forget. Theirs alone: nothing here is read by the engine.
CREATE TABLE carrier_notes (
  carrier TEXT NOT NULL,
  key TEXT NOT NULL,
  text TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (carrier, key)
) STRICT, WITHOUT ROWID;

-- What an operator has put over the settings of a carrier. Null: the settings' own value.
CREATE TABLE carrier_overrides (
  carrier TEXT PRIMARY KEY,
  rate_per_s REAL CHECK (rate_per_s > 0),
  weight INTEGER CHECK (weight > 0),
  changed_at INTEGER NOT NULL,
  who TEXT NOT NULL,
  CHECK (rate_per_s IS NOT NULL OR weight IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- By what a carrier shares receipts with others; kept for a while after it is gone or another.
CREATE TABLE carrier_marks (
  carrier TEXT NOT NULL,
  driver TEXT NOT NULL,
  account TEXT NOT NULL,
  -- Empty: the settings name none.
  receipt_group TEXT NOT NULL,
  -- Since when it is so no more; null: it is so.
  gone_at INTEGER,
  PRIMARY KEY (carrier, driver, account, receipt_group)
) STRICT, WITHOUT ROWID;

-- Carriers that an operator paused or drains, until they resume them.
CREATE TABLE carrier_gates (
  carrier TEXT PRIMARY KEY,
  gate TEXT NOT NULL CHECK (gate IN ('paused', 'draining')),
  changed_at INTEGER NOT NULL,
  who TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE held_receipts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  carrier TEXT NOT NULL,
  carrier_id TEXT NOT NULL,
  carrier_key TEXT NOT NULL,
  state TEXT NOT NULL,
  raw TEXT NOT NULL,
  error_code TEXT,
  received_at INTEGER NOT NULL,
  -- By these two a receipt names a submit whose answer, and with it the carrier's id, never came.
  recipient TEXT,
  reference INTEGER,
  -- Why it is held: see Why in matching.py.
  why TEXT NOT NULL DEFAULT 'unknown',
  -- Whom it was sent as, by the receipt.
  sender TEXT
) STRICT;
CREATE INDEX held_receipts_by_key ON held_receipts (carrier, carrier_key);
CREATE INDEX held_receipts_by_age ON held_receipts (received_at);
CREATE INDEX held_receipts_by_reference ON held_receipts (carrier, reference)
  WHERE reference IS NOT NULL;

-- Receipts that matched nothing for as long as they were held: the latest, for the operator.
CREATE TABLE unmatched_receipts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  carrier TEXT NOT NULL,
  carrier_id TEXT NOT NULL,
  state TEXT NOT NULL,
  raw TEXT NOT NULL,
  recipient TEXT,
  why TEXT NOT NULL,
  received_at INTEGER NOT NULL
) STRICT;
CREATE INDEX unmatched_receipts_by_carrier ON unmatched_receipts (carrier, seq);

-- All of them ever, by carrier.
CREATE TABLE unmatched_totals (
  carrier TEXT PRIMARY KEY,
  receipts INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""

ADDRESSES: Final = """
-- The secrets in the addresses of carriers that call: their hashes.
CREATE TABLE carrier_addresses (
  carrier TEXT PRIMARY KEY,
  hash BLOB NOT NULL,
  made_at INTEGER NOT NULL,
  -- The one before works until then.
  former_hash BLOB,
  former_until INTEGER
) STRICT, WITHOUT ROWID;
"""

SECRETS: Final = """
-- Secrets that drivers keep, such as tokens of devices: sealed. Nothing here is read by the engine.
CREATE TABLE carrier_secrets (
  -- Carrier, driver and key, with spaces between: what the seal is bound to.
  id TEXT PRIMARY KEY,
  carrier TEXT NOT NULL,
  driver TEXT NOT NULL,
  key TEXT NOT NULL,
  secret TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (carrier, driver, key)
) STRICT, WITHOUT ROWID;
"""

OWN_TEXTS: Final = """
-- Short codes and service numbers that the operator has texted by a carrier, for a month.
CREATE TABLE own_texts (
  carrier TEXT NOT NULL,
  number TEXT NOT NULL,
  -- The last time.
  sent_at INTEGER NOT NULL,
  PRIMARY KEY (number, carrier)
) STRICT, WITHOUT ROWID;

-- What came back from them, which is for no customer.
CREATE TABLE own_answers (
  id INTEGER PRIMARY KEY,
  carrier TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  sender TEXT NOT NULL,
  text TEXT NOT NULL,
  carrier_ids TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX own_answers_once ON own_answers (carrier, carrier_ids) WHERE carrier_ids <> '';
"""
