"""Currencies' decimals, by ISO 4217, and which of them this service counts in.

A service has one currency (``service.currency``), and every amount in it is a whole number of that
currency's minor units. Its decimals are set once, where a service or a command begins; tasks and
threads inherit them, so two services in one process (in tests) do not disturb each other. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

DEFAULT_CURRENCY: Final = "MRU"
"""``service.currency``, unless it is set."""
_USUAL_PRICES: Final = {DEFAULT_CURRENCY: "0.50"}
"""What ``pricing.per_segment`` is unless it is set; nobody said what a part costs elsewhere."""
USUAL: Final = 2
"""The decimals of most currencies."""
_EXCEPTIONS: Final = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG"), 0),
    **dict.fromkeys(("RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}
DECIMALS_MAX: Final = max(_EXCEPTIONS.values())
_DECIMALS: ContextVar[int] = ContextVar("decimals", default=USUAL)
_CURRENCY: ContextVar[str] = ContextVar("currency", default=DEFAULT_CURRENCY)

decimals = _DECIMALS.get
"""The decimals of the currency in which this service counts."""
currency_counted = _CURRENCY.get
"""The currency in which this service counts, for its drivers; a command may know its decimals
alone."""


def decimals_of(currency: str) -> int:
    """The decimals of a currency; of one that nobody knows, the usual ones."""
    return _EXCEPTIONS.get(currency, USUAL)


def count_in(currency: str) -> None:
    """From here on, this task and what it starts count in ``currency``."""
    _CURRENCY.set(currency)
    count_with(decimals_of(currency))


def count_with(places: int) -> None:
    """From here on, amounts of this task and of what it starts have so many decimals."""
    _DECIMALS.set(places)


@contextmanager
def counting_in(currency: str) -> Iterator[None]:
    """Within the block, amounts are in this currency."""
    token = _CURRENCY.set(currency)
    try:
        with counting(decimals_of(currency)):
            yield
    finally:
        _CURRENCY.reset(token)


@contextmanager
def counting(places: int) -> Iterator[None]:
    """Within the block, amounts have so many decimals."""
    token = _DECIMALS.set(places)
    try:
        yield
    finally:
        _DECIMALS.reset(token)


def has_too_many(part: str, places: int) -> bool:
    """Whether an amount has decimals (``part``) that a currency with ``places`` has not.

    Zeros as far as the usual decimals are no fault: ``50.00`` is 50 in a currency without any.
    """
    return len(part) > max(places, USUAL) or bool(part[places:].strip("0"))


def currency_of(country_code: str) -> str:
    """The currency of a country by its ISO 3166-1 code; the usual one where none is known."""
    from babel.numbers import get_territory_currencies  # imported where it is asked: it is large

    return next(iter(get_territory_currencies(country_code)), DEFAULT_CURRENCY)


def usual_price(currency: str) -> str:
    """What a part usually costs in a currency; empty: nobody told, and nothing is proposed."""
    return _USUAL_PRICES.get(currency, "")


def example_amount(currency: str) -> str:
    """How an amount of a currency is written, for sentences and demos; it is nobody's price."""
    places = decimals_of(currency)
    return usual_price(currency) or (f"1.{'0' * places}" if places else "25")
