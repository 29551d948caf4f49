"""The message about a running service that does not answer a command; and where files go."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

TIMEOUT_S: Final = 60.0
"""Seconds for one operation; an audit of a large file takes longest."""
TIMED_OUT: Final = f"The service did not answer within {TIMEOUT_S:.0f} seconds. Try again."
WENT_AWAY: Final = (
    "The service stopped before it answered, so it is not known whether this was done. Check "
    "before you try again."
)


def upload_path(organization_id: str, name: str) -> str:
    """Where the control socket takes a file, with its query."""
    return f"/uploads?{urlencode({'organization': organization_id, 'name': name})}"
