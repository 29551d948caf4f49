"""The tables of what organizations may reach abroad, and at which prices."""

from __future__ import annotations

from typing import Final

COUNTRIES: Final = """
-- Countries that an operator opened for an organization. Home is open to everybody, without a row.
CREATE TABLE opened_countries (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  -- ISO 3166-1, two letters.
  country TEXT NOT NULL,
  -- For messages, for codes by secret keys, or for codes by publishable keys.
  what TEXT NOT NULL CHECK (what IN ('send', 'verify', 'publishable')),
  PRIMARY KEY (organization_id, country, what)
) STRICT, WITHOUT ROWID;

-- An organization's own prices of a segment abroad; the longest prefix counts.
CREATE TABLE organization_prices (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  prefix TEXT NOT NULL,
  price INTEGER NOT NULL CHECK (price >= 0),
  PRIMARY KEY (organization_id, prefix)
) STRICT, WITHOUT ROWID;
"""
