"""The restrictions of API keys, and former values that are still valid."""

from __future__ import annotations

from typing import Final

KEY_LIMITS: Final = """
-- JSON: addresses and networks that a key may be used from; null: any.
ALTER TABLE api_keys ADD COLUMN allowed_addresses TEXT;
-- Of a key that was rotated: the value before, which holds until then.
ALTER TABLE api_keys ADD COLUMN old_hash BLOB;
ALTER TABLE api_keys ADD COLUMN old_last4 TEXT;
ALTER TABLE api_keys ADD COLUMN old_until INTEGER;
CREATE UNIQUE INDEX api_keys_by_old_hash ON api_keys (old_hash) WHERE old_hash IS NOT NULL;
"""

KEY_CONTACTS: Final = """
-- Whom to ask about a key; null: nobody is named.
ALTER TABLE api_keys ADD COLUMN contact TEXT;
"""
