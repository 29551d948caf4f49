"""Money as minor units, in which the engine counts, and as decimal strings. Never a float."""

from __future__ import annotations


def money(minor: int) -> str:
    """Minor units as a decimal string: ``-105`` is ``-1.05``. Never through a float."""
    sign = "-" if minor < 0 else ""
    whole, part = divmod(abs(minor), 100)
    return f"{sign}{whole}.{part:02d}"


def minor_units(text: str) -> int:
    """The reverse of :func:`money` for a non-negative amount.

    Raises:
        ValueError: the text is not digits with at most two decimals.
    """
    whole, _, part = text.partition(".")
    if not (whole.isascii() and whole.isdigit() and len(whole) <= 12):
        raise ValueError("an amount is digits with at most two decimals, like 100 or 99.50")
    if part and not (part.isascii() and part.isdigit() and len(part) <= 2):
        raise ValueError("an amount is digits with at most two decimals, like 100 or 99.50")
    if "." in text and not part:
        raise ValueError("an amount is digits with at most two decimals, like 100 or 99.50")
    return int(whole) * 100 + int(part.ljust(2, "0") or "0")
