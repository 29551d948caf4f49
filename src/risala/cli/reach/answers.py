"""The message about a running service that does not answer a command."""

from __future__ import annotations

from typing import Final

TIMEOUT_S: Final = 60.0
"""Seconds for one operation; an audit of a large file takes longest."""
TIMED_OUT: Final = f"The service did not answer within {TIMEOUT_S:.0f} seconds. Try again."
WENT_AWAY: Final = (
    "The service stopped before it answered, so it is not known whether this was done. Check "
    "before you try again."
)
