"""The countries that organizations reach, and what a message there costs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Money


class CountryUse(StrEnum):
    """What a country is opened for. Each use is opened by itself."""

    SEND = "send"
    """Messages."""
    VERIFY = "verify"
    """Codes that secret keys send."""
    PUBLISHABLE = "publishable"
    """Codes that publishable keys send."""


@dataclass(frozen=True, slots=True)
class PrefixPrice:
    """The price of a segment to the numbers that begin with a prefix."""

    prefix: str
    """A plus sign and digits, such as +221."""
    price: Money


@dataclass(frozen=True, slots=True)
class OpenedCountries:
    """What an operator has opened for an organization abroad, and its own prices there."""

    organization_id: Annotated[str, UNAUDITED]
    send: Annotated[tuple[str, ...], AUDITED]
    """Countries by their ISO 3166-1 codes, as in the next two."""
    verify: Annotated[tuple[str, ...], AUDITED]
    publishable: Annotated[tuple[str, ...], AUDITED]
    prices: Annotated[tuple[PrefixPrice, ...], AUDITED]

    def has(self, country: str, use: CountryUse) -> bool:
        """Whether a country is opened for a use."""
        opened = {
            CountryUse.SEND: self.send,
            CountryUse.VERIFY: self.verify,
            CountryUse.PUBLISHABLE: self.publishable,
        }
        return country in opened[use]


@dataclass(frozen=True, slots=True)
class ReachedCountry:
    """A country that is served: whether an organization reaches it, and at which prices."""

    code: str
    """ISO 3166-1."""
    name: str
    home: bool
    """Home is always open."""
    send: bool
    verify: bool
    publishable: bool
    prices: tuple[PrefixPrice, ...]
    """Prices of a segment: the organization's own or the general ones. The longest prefix
    counts."""


@dataclass(frozen=True, slots=True)
class ReachedCountries:
    """All countries that are served, home first."""

    organization_id: str
    currency: str
    countries: tuple[ReachedCountry, ...]
    own_prices: tuple[PrefixPrice, ...]
    """The organization's own abroad."""
    general_prices: tuple[PrefixPrice, ...]
    """Prices abroad for organizations without prices of their own there."""


LIST: Final = Ask("country.list", ReachedCountries)
OPEN: Final = Ask("country.open", ReachedCountries)
CLOSE: Final = Ask("country.close", ReachedCountries)
SET_PRICE: Final = Ask("price.set", ReachedCountries)
DROP_PRICE: Final = Ask("price.drop", ReachedCountries)
