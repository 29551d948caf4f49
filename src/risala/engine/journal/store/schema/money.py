"""Payments' references, notes in the ledger, spend caps; and expiries in whole minutes."""

from __future__ import annotations

from typing import Final

CREDITED_ONCE: Final = """
-- Why: of a top-up what was paid for, of an adjustment its reason.
ALTER TABLE ledger ADD COLUMN note TEXT;
-- References used to be notes that anybody could write twice: those become what they were.
UPDATE ledger SET note = reference, reference = 'pay_ledger_' || seq
  WHERE kind = 'topup' AND lower(reference) IN (
    SELECT lower(reference) FROM ledger WHERE kind = 'topup'
    GROUP BY lower(reference) HAVING count(*) > 1);
-- People write references down in any case.
CREATE UNIQUE INDEX ledger_credited_once ON ledger (reference COLLATE NOCASE)
  WHERE kind = 'topup';
-- Top-ups and adjustments are few among the charges.
CREATE INDEX ledger_by_hand ON ledger (organization_id, seq)
  WHERE kind IN ('topup', 'adjustment');
"""

WHOLE_MINUTES: Final = """
-- The SMS tells minutes: a code of 90 seconds said two, and is valid for two from now on.
UPDATE verify_settings SET settings = json_remove(json_set(settings, '$.expiry_minutes',
    max(1, min(60, (json_extract(settings, '$.expiry_s') + 59) / 60))), '$.expiry_s')
  WHERE json_extract(settings, '$.expiry_s') IS NOT NULL;
"""

SPEND_CAPS: Final = """
-- The most that may be charged a day, in minor units: the operator's number, and the owner's.
ALTER TABLE organizations ADD COLUMN spend_cap INTEGER CHECK (spend_cap >= 0);
ALTER TABLE organizations ADD COLUMN owner_spend_cap INTEGER CHECK (owner_spend_cap >= 0);
-- By whose midnight a day ends.
ALTER TABLE organizations ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'Africa/Nouakchott';

-- Charged by day of the organization's own calendar, as days since 1970-01-01.
CREATE TABLE spending (
  organization_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day)
) STRICT, WITHOUT ROWID;
"""
