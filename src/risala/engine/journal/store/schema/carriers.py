"""The tables of carriers' data that is not in the settings."""

from __future__ import annotations

from typing import Final

CARRIERS: Final = """
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
"""

CARRIER_GATES: Final = """
-- Carriers that an operator paused or drains, until they resume them.
CREATE TABLE carrier_gates (
  carrier TEXT PRIMARY KEY,
  gate TEXT NOT NULL CHECK (gate IN ('paused', 'draining')),
  changed_at INTEGER NOT NULL,
  who TEXT NOT NULL
) STRICT, WITHOUT ROWID
"""
