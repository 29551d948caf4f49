"""The bounds of a customer's message, whichever way it comes (contract §3)."""

from __future__ import annotations

from typing import Final

TEXT_CHARACTERS_MAX: Final = 1600
"""Unicode code points of a text."""
IDEMPOTENCY_KEY_CHARACTERS: Final = (8, 128)
"""Fewest and most."""
VALIDITY_S: Final = (60, 259_200)
"""Shortest and longest: a minute, and three days."""
