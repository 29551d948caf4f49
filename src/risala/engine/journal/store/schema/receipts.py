"""The tables of receipts that match no message, and of submits whose answers never came."""

from __future__ import annotations

from typing import Final

RECEIPTS: Final = """
-- Why it is held: see Why in matching.py.
ALTER TABLE held_receipts ADD COLUMN why TEXT NOT NULL DEFAULT 'unknown';
-- Whom it was sent as, by the receipt.
ALTER TABLE held_receipts ADD COLUMN sender TEXT;

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

RESENDS: Final = """
-- Submits of this segment whose outcome nobody knew.
ALTER TABLE segments ADD COLUMN uncertain INTEGER NOT NULL DEFAULT 0;
-- How often a link was lost while a part of the message was being submitted.
ALTER TABLE messages ADD COLUMN link_losses INTEGER NOT NULL DEFAULT 0;
"""
