"""The message about a running service that does not answer a command."""

from __future__ import annotations

from typing import Final

TIMEOUT_S: Final = 60.0
"""Seconds for one operation; an audit of a large file takes longest."""
TIMED_OUT: Final = f"The service did not answer within {TIMEOUT_S:.0f} seconds."
WENT_AWAY: Final = "The service went away before it answered; whether it was done is not known."
