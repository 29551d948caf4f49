"""Money as minor units, in which the engine counts, and as decimal strings. Never a float.

The decimals are those of the service's currency (:mod:`risala.sms.currencies`).
"""

from __future__ import annotations

from typing import Final

from risala.sms.currencies import decimals, has_too_many

_COUNTS: Final = ("no decimals", "one decimal", "two decimals", "three decimals", "four decimals")
_EXAMPLE: Final = "9950000"
"""An amount of 99.5, whose decimals are as many as are shown."""
WHOLE_DIGITS_MAX: Final = 12


def money(minor: int) -> str:
    """Minor units as a decimal string: ``-105`` is ``-1.05`` in a currency with two decimals.

    Never through a float."""
    places = decimals()
    sign = "-" if minor < 0 else ""
    if not places:
        return f"{sign}{abs(minor)}"
    whole, part = divmod(abs(minor), 10**places)
    return f"{sign}{whole}.{part:0{places}d}"


def minor_units(text: str) -> int:
    """The reverse of :func:`money` for a non-negative amount.

    Raises:
        ValueError: the text is not digits with at most the currency's decimals.
    """
    places = decimals()
    whole, _, part = text.partition(".")
    if not (whole.isascii() and whole.isdigit() and len(whole) <= WHOLE_DIGITS_MAX):
        raise ValueError(_rule(places))
    if part and (not (part.isascii() and part.isdigit()) or has_too_many(part, places)):
        raise ValueError(_rule(places))
    if "." in text and not part:
        raise ValueError(_rule(places))
    return int(whole + part[:places].ljust(places, "0"))


def decimals_in_words(places: int) -> str:
    """``no decimals``, ``two decimals``."""
    return _COUNTS[places]


def _rule(places: int) -> str:
    if not places:
        return "an amount is digits without decimals, like 100"
    return f"an amount is digits with at most {_COUNTS[places]}, like 100 or {example()}"


def example() -> str:
    """An amount as it is written in the service's currency: ``99.50``; ``100`` without decimals."""
    places = decimals()
    return f"{_EXAMPLE[:2]}.{_EXAMPLE[2 : 2 + places]}" if places else "100"
