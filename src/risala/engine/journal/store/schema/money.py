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

INVOICES: Final = """
-- One for each month of an organization. The law wants numbers without gaps, which never change.
CREATE TABLE invoices (
  -- In the order in which they were issued, of all series.
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  series TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number > 0),
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  month TEXT NOT NULL,
  -- JSON of all that is printed: figures, names and addresses as they were.
  printed TEXT NOT NULL,
  UNIQUE (series, number),
  UNIQUE (organization_id, month)
) STRICT;
CREATE TRIGGER invoices_have_no_gap BEFORE INSERT ON invoices
  WHEN NEW.number <> 1 + coalesce((SELECT max(number) FROM invoices WHERE series = NEW.series), 0)
  BEGIN SELECT RAISE(ABORT, 'an invoice has the number after the last one of its series'); END;
-- The trigger on deletes is not asked when a row is replaced.
CREATE TRIGGER invoices_no_replace BEFORE INSERT ON invoices
  WHEN EXISTS (SELECT 1 FROM invoices WHERE id = NEW.id
    OR organization_id = NEW.organization_id AND month = NEW.month)
  BEGIN SELECT RAISE(ABORT, 'a month has one invoice'); END;
CREATE TRIGGER invoices_no_update BEFORE UPDATE ON invoices
  BEGIN SELECT RAISE(ABORT, 'an invoice never changes'); END;
CREATE TRIGGER invoices_no_delete BEFORE DELETE ON invoices
  BEGIN SELECT RAISE(ABORT, 'an invoice is kept'); END;
"""

INVOICE_CUSTOMERS: Final = """
-- What organizations want to stand about them on their invoices.
CREATE TABLE invoice_customers (
  organization_id TEXT PRIMARY KEY REFERENCES organizations (id),
  -- JSON: line by line.
  address TEXT NOT NULL,
  tax_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""


# The tables of payments: what organizations pay to top up, references for ever, banks' texts.

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
  -- When the provider is asked next, null: never; how often it was, and how often at first (ms).
  poll_at INTEGER,
  polls INTEGER NOT NULL DEFAULT 0,
  poll_every INTEGER,
  -- The number from which the customer says they paid; the session of the last code sent to it,
  -- how many codes were sent, and when the customer entered the right one.
  payer_number TEXT,
  payer_session TEXT,
  payer_codes INTEGER NOT NULL DEFAULT 0,
  payer_checked_at INTEGER,
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
CREATE INDEX payments_polled ON payments (poll_at) WHERE poll_at IS NOT NULL;

CREATE TABLE credited (
  -- A reference as it is compared.
  key TEXT NOT NULL,
  -- Whose reference it is. Empty: it was entered by hand, and nobody said whose.
  provider TEXT NOT NULL,
  entry INTEGER NOT NULL REFERENCES entry (seq),
  PRIMARY KEY (key, provider)
) STRICT, WITHOUT ROWID;

CREATE TABLE bank_texts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  carrier TEXT NOT NULL,
  sender TEXT NOT NULL,
  service_centre TEXT,
  body TEXT NOT NULL,
  carrier_ids TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (
    state IN ('unread', 'unmatched', 'noted', 'waiting', 'credited', 'dismissed')),
  -- Why it is not credited: a word.
  why TEXT,
  -- What was read in it.
  method TEXT,
  reference TEXT,
  reference_key TEXT,
  amount INTEGER CHECK (amount > 0),
  payer TEXT,
  balance INTEGER,
  -- 1: the balance that it tells continues the one before it.
  continues INTEGER NOT NULL DEFAULT 0,
  payment_id TEXT REFERENCES payments (id),
  -- Null: nobody yet, or by itself.
  decided_by TEXT,
  decided_at INTEGER
) STRICT;
CREATE UNIQUE INDEX bank_texts_once ON bank_texts (carrier, carrier_ids)
  WHERE carrier_ids <> '';
-- Few are unread, or wait, among all that came.
CREATE INDEX bank_texts_open ON bank_texts (state, seq)
  WHERE state IN ('unread', 'waiting', 'unmatched');
CREATE INDEX bank_texts_by_reference ON bank_texts (reference_key)
  WHERE reference_key IS NOT NULL;
-- Automatic credits are counted against the caps.
CREATE INDEX bank_texts_by_itself ON bank_texts (method, decided_at)
  WHERE state = 'credited' AND decided_by IS NULL;
CREATE INDEX bank_texts_by_payment ON bank_texts (payment_id) WHERE payment_id IS NOT NULL;

CREATE TABLE bank_balances (
  method TEXT PRIMARY KEY,
  -- Of the account, in minor units, after the last text that continued the one before it.
  balance INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- Who said it; null: a text.
  said_by TEXT
) STRICT, WITHOUT ROWID;
"""
