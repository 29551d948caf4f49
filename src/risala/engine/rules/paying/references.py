"""Transactions' references, as they are compared. Pure."""

from __future__ import annotations

from risala.plugins.payment import normalised_reference


def comparable(reference: str) -> str | None:
    """A reference as it is compared; None: nothing of it can be."""
    try:
        return normalised_reference(reference)
    except ValueError:
        return None
