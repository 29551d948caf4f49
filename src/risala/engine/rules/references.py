"""References of transactions, in comparable form. Pure."""

from __future__ import annotations

from risala.plugins.payment import normalised_reference


def comparable(reference: str) -> str | None:
    """A reference in comparable form; None: nothing of it can be compared."""
    try:
        return normalised_reference(reference)
    except ValueError:
        return None
