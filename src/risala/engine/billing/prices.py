"""The prices of messages: the general ones, and organizations' own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy

from risala.config.model import Settings
from risala.engine.model.money import minor_units
from risala.engine.model.records.ledger import CUSTOMERS, SELF, DayAllowance, StoredPayer
from risala.engine.model.records.people.countries import (
    CountryUse,
    OpenedCountries,
    PrefixPrice,
)
from risala.engine.model.records.people.organizations import Organization
from risala.engine.rules.days import next_midnight
from risala.sms.numbering.country import Country

Opened = Callable[[str], OpenedCountries]
"""What an organization reaches abroad, with its own prices there, by its id."""


class Prices:
    """The prices of this moment, in minor units.

    Args:
        opened: reads organizations' own prices abroad.
        payer: who pays; where nobody does, nothing has a price.
    """

    def __init__(self, settings: Settings, opened: Opened, payer: PayerPolicy) -> None:
        self._home = settings.plan.home
        self._is_home_alone = len(settings.plan.countries) == 1
        self.opened = opened
        self.payer = payer
        self.retune(settings)

    def retune(self, settings: Settings) -> None:
        """Apply prices that were changed at run time."""
        self._settings = settings
        self.per_segment = 0 if self.payer.is_self else minor_units(settings.pricing.per_segment)
        """The general price of a segment at home."""
        self.low_balance = 0 if self.payer.is_self else minor_units(settings.pricing.low_balance)
        """Below this an organization is notified that its balance is low; 0: never."""
        self._abroad = {each.prefix: minor_units(each.price) for each in settings.prices}
        """The general prices abroad, by prefix."""

    def of(self, organization: Organization, number: str | None, segments: int) -> int | None:
        """What a message costs; None: its country has no price.

        Args:
            number: whom it is to; None: somebody at home.
        """
        if number is None or self.is_home(number):
            return segments * self.per_segment_of(organization)
        price = self.abroad_of(self.opened(organization.id), number)
        return None if price is None else segments * price

    def is_home(self, number: str) -> bool:
        """Whether a served number is one of home."""
        return self._is_home_alone or self._home.serves(number)

    def per_segment_of(self, organization: Organization) -> int:
        """What a segment costs at home: the organization's own price, or the general one."""
        if self.payer.is_self:
            return 0
        own = organization.price_per_segment
        return self.per_segment if own is None else own

    def abroad_of(self, opened: OpenedCountries, number: str) -> int | None:
        """What a segment to a number abroad costs: by the longest prefix of the organization's own
        prices, else of the general ones; None: it has no price."""
        if self.payer.is_self:
            return 0
        own = _longest({each.prefix: each.price for each in opened.prices}, number)
        return _longest(self._abroad, number) if own is None else own

    @property
    def general_abroad(self) -> tuple[PrefixPrice, ...]:
        """The general prices abroad."""
        return tuple(PrefixPrice(*each) for each in sorted(self._abroad.items()))

    def list_of(
        self, organization: Organization, opened: OpenedCountries, country: Country
    ) -> tuple[PrefixPrice, ...]:
        """The prices of a country by prefix; none: it has no price."""
        whole = f"+{country.calling_code}"
        if country is self._home:
            return (PrefixPrice(whole, self.per_segment_of(organization)),)
        known = {*self._abroad, *(each.prefix for each in opened.prices)}
        prefixes = {whole, *(each for each in known if each.startswith(whole))}
        prices = ((each, self.abroad_of(opened, each)) for each in sorted(prefixes))
        return tuple(PrefixPrice(prefix, price) for prefix, price in prices if price is not None)

    def unpriced(self, organizations: Iterable[Organization]) -> list[tuple[str, str]]:
        """Organizations that would have no price if customers paid: their names, each with the
        country."""
        paid = Prices(self._settings, self.opened, self.payer.paid())
        names = []
        for each in organizations:
            if not paid.per_segment_of(each):
                names.append((each.name, self._home.name))
            opened = self.opened(each.id)
            names += [
                (each.name, country.name)
                for country in self._settings.plan.countries
                if country is not self._home
                and any(opened.has(country.code, use) for use in CountryUse)
                and not paid.list_of(each, opened, country)
            ]
        return names

    def low_balance_of(self, organization: Organization) -> int:
        """The balance, in minor units, below which this organization is notified that it is low; 0:
        never."""
        if self.payer.is_self:
            return 0
        own = organization.low_balance
        return self.low_balance if own is None else own


def _longest(prices: Mapping[str, int], number: str) -> int | None:
    """The price of the longest prefix that a number has."""
    beginnings: Iterable[str] = (number[:end] for end in range(len(number), 1, -1))
    return next((prices[each] for each in beginnings if each in prices), None)


# The policy of who pays for messages: what intake, prices and pages ask.


class PayerPolicy:
    """The payer of messages, at this moment: customers, or the service's owner.

    Args:
        stored: what operators chose while the service ran; None: the settings apply.
    """

    def __init__(self, settings: Settings, stored: StoredPayer | None = None) -> None:
        self.in_settings = settings.billing.payer
        self._parts_in_settings = settings.billing.self_parts_per_day
        self.choose(stored)

    def choose(self, stored: StoredPayer | None) -> None:
        """Follow what operators chose."""
        self.stored = stored
        self.is_self = (self.in_settings if stored is None else stored.payer) == SELF
        """Whether nobody pays: the service's owner sends for themselves."""
        self.parts_per_day = (
            self._parts_in_settings if stored is None else stored.self_parts_per_day
        )
        """The most parts that an organization may send in a day then."""

    def paid(self) -> PayerPolicy:
        """The policy as if customers paid."""
        policy = copy(self)
        policy.is_self = False
        return policy

    @property
    def name(self) -> str:
        """As in the settings."""
        return SELF if self.is_self else CUSTOMERS

    def allowance(self, organization: Organization, now_ms: int) -> DayAllowance | None:
        """What an organization may send today; None: its balance decides."""
        if not self.is_self:
            return None
        return DayAllowance(self.parts_per_day, next_midnight(organization.time_zone, now_ms))
