"""How a running service's answers to a command are read."""

from __future__ import annotations

from typing import Any, Final

TIMEOUT_S: Final = 60.0
"""Seconds for one operation; an audit of a large file takes longest."""
TIMED_OUT: Final = f"The service did not answer within {TIMEOUT_S:.0f} seconds."
WENT_AWAY: Final = "The service went away before it answered; whether it was done is not known."


def sentences_of(error: dict[str, Any]) -> str:
    """The sentences of an error: where it has several faults, the sentence of each."""
    issues = error.get("data", {}).get("issues", ())
    return " ".join(str(issue["message"]) for issue in issues) or str(error["message"])
