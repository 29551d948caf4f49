"""A fault, and what everybody sees of it: declared once, held against the real thing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

GAP: Final = "…"
"""In a declared text: whatever stands there."""


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    title: str
    made: str
    """How a test makes it."""
    sees: Mapping[str, tuple[str, ...]]
    """What is seen of it, by where: each text is seen, and nothing else there."""
    back: str
    """How it comes back."""
    do: str
    """What the operator does."""
    perhaps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What is seen now and then, by where: it depends on the moment."""
    alert: str = ""
    """The kind of the alert that is raised within a minute."""

    def expects(self, where: str, text: str) -> str | None:
        """The declared text that this one is; None: nobody declared it."""
        texts = (*self.sees.get(where, ()), *self.perhaps.get(where, ()))
        return next((each for each in texts if fits(each, text)), None)


def fits(declared: str, text: str) -> bool:
    """Whether a text is the declared one, its gaps filled."""
    parts = (re.escape(part) for part in declared.split(GAP))
    return re.fullmatch(".*".join(parts), text, re.S) is not None


# What the API answers to a send.
ACCEPTED: Final = "200"
REFUSED: Final = "503 SERVICE_UNAVAILABLE, Retry-After: 10"
IN_DOUBT: Final = "503 SERVICE_UNAVAILABLE, Retry-After: 10, OUTCOME_UNKNOWN"
