"""Limits of what may be asked, shared by those who check and those who decide."""

from __future__ import annotations

from typing import Final

AHEAD_MAX_S: Final = 30 * 86_400
"""How far ahead a message may be scheduled (contract §3)."""
