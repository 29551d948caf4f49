"""The tables for the end of payments: polls, payers' numbers, references for ever, bank texts."""

from __future__ import annotations

from typing import Final

from sqlite_utils import Database

from risala.plugins.payment import normalised_reference

_FOLLOWED: Final = (
    # When the provider is asked next, null: never; how often it was, and how often at first (ms).
    "ALTER TABLE payments ADD COLUMN poll_at INTEGER",
    "ALTER TABLE payments ADD COLUMN polls INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE payments ADD COLUMN poll_every INTEGER",
    # The number from which the customer says they paid; the session of the last code sent to it,
    # how many codes were sent, and when the customer entered the right one.
    "ALTER TABLE payments ADD COLUMN payer_number TEXT",
    "ALTER TABLE payments ADD COLUMN payer_session TEXT",
    "ALTER TABLE payments ADD COLUMN payer_codes INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE payments ADD COLUMN payer_checked_at INTEGER",
    "CREATE INDEX payments_polled ON payments (poll_at) WHERE poll_at IS NOT NULL",
)
_CREDITED: Final = """
CREATE TABLE credited (
  -- A reference as it is compared.
  key TEXT NOT NULL,
  -- Whose reference it is. Empty: it was entered by hand, and nobody said whose.
  provider TEXT NOT NULL,
  entry INTEGER NOT NULL REFERENCES entry (seq),
  PRIMARY KEY (key, provider)
) STRICT, WITHOUT ROWID
"""
_TEXTS: Final = """
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
) STRICT
"""
_OF_TEXTS: Final = (
    "CREATE UNIQUE INDEX bank_texts_once ON bank_texts (carrier, carrier_ids)"
    " WHERE carrier_ids <> ''",
    # Few are unread, or wait, among all that came.
    "CREATE INDEX bank_texts_open ON bank_texts (state, seq)"
    " WHERE state IN ('unread', 'waiting', 'unmatched')",
    "CREATE INDEX bank_texts_by_reference ON bank_texts (reference_key)"
    " WHERE reference_key IS NOT NULL",
    # Automatic credits are counted against the caps.
    "CREATE INDEX bank_texts_by_itself ON bank_texts (method, decided_at)"
    " WHERE state = 'credited' AND decided_by IS NULL",
    "CREATE INDEX bank_texts_by_payment ON bank_texts (payment_id) WHERE payment_id IS NOT NULL",
)
_BALANCES: Final = """
CREATE TABLE bank_balances (
  method TEXT PRIMARY KEY,
  -- Of the account, in minor units, after the last text that continued the one before it.
  balance INTEGER NOT NULL,
  at INTEGER NOT NULL,
  -- Who said it; null: a text.
  said_by TEXT
) STRICT, WITHOUT ROWID
"""


def make_bank(db: Database) -> None:
    """Make the tables, and store each reference that was credited before."""
    for statement in (*_FOLLOWED, _CREDITED, _TEXTS, *_OF_TEXTS, _BALANCES):
        db.execute(statement)
    payments = "SELECT provider, reference, entry FROM payments WHERE state = 'confirmed'"
    by_hand = (
        "SELECT '', reference, seq FROM entry WHERE kind = 2"
        " AND seq NOT IN (SELECT entry FROM payments WHERE entry IS NOT NULL) ORDER BY seq"
    )
    for statement in (payments, by_hand):
        for provider, reference, entry in db.execute(statement).fetchall():
            try:
                key = normalised_reference(reference)
            except ValueError:
                continue  # nothing of it can be compared
            # An older version may have credited by hand what is the same only to this one.
            db.execute(
                "INSERT INTO credited (key, provider, entry) VALUES (?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                (key, provider, entry),
            )


_FOLDS: Final = (
    (
        "SELECT DISTINCT key FROM credited WHERE key GLOB '*[^0-9A-Z]*'",
        "UPDATE OR IGNORE credited SET key = ? WHERE key = ?",
    ),
    (
        "SELECT DISTINCT reference_key FROM payments WHERE reference_key GLOB '*[^0-9A-Z]*'",
        "UPDATE OR IGNORE payments SET reference_key = ? WHERE reference_key = ?",
    ),
    (
        "SELECT DISTINCT reference_key FROM bank_texts WHERE reference_key GLOB '*[^0-9A-Z]*'",
        "UPDATE OR IGNORE bank_texts SET reference_key = ? WHERE reference_key = ?",
    ),
)
"""Keys that may hold what looks like a Latin letter, and the statement that folds one."""


def fold_references(db: Database) -> None:
    """Fold stored references as new ones are: letters that look alike become one."""
    for found, fold in _FOLDS:
        for (key,) in db.execute(found).fetchall():
            # If both were already credited, each stays: nothing is credited a third time.
            db.execute(fold, (normalised_reference(key), key))
