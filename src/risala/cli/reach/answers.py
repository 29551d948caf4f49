"""What a service that runs answers a command, and what is said where it does not."""

from __future__ import annotations

from typing import Any, Final

TIMEOUT_S: Final = 60.0
"""For one operation; an audit of a large file is the longest."""
TIMED_OUT: Final = f"The service did not answer within {TIMEOUT_S:.0f} seconds."
WENT_AWAY: Final = "The service went away before it answered; whether it was done is not known."


def sentences_of(error: dict[str, Any]) -> str:
    """What is wrong: of several faults each one's sentence."""
    issues = error.get("data", {}).get("issues", ())
    return " ".join(str(issue["message"]) for issue in issues) or str(error["message"])
