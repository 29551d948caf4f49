"""The prices of messages: the general one, and organizations' own."""

from __future__ import annotations

from risala.config.model import PricingSection
from risala.engine.model.money import minor_units
from risala.engine.model.records.people.organizations import Organization


class Prices:
    """The prices of this moment, in minor units."""

    def __init__(self, pricing: PricingSection) -> None:
        self.retune(pricing)

    def retune(self, pricing: PricingSection) -> None:
        """Apply prices that were changed at run time."""
        self.per_segment = minor_units(pricing.per_segment)
        """The general price of a segment."""
        self.low_balance = minor_units(pricing.low_balance)
        """Below this an organization is notified that its balance is low; 0: never."""

    def of(self, organization: Organization, segments: int) -> int:
        """What a message costs."""
        return segments * self.per_segment_of(organization)

    def per_segment_of(self, organization: Organization) -> int:
        """What a segment costs: the organization's own price, or the general one."""
        own = organization.price_per_segment
        return self.per_segment if own is None else own

    def low_balance_of(self, organization: Organization) -> int:
        """The balance, in minor units, below which this organization is notified that it is low; 0:
        never."""
        own = organization.low_balance
        return self.low_balance if own is None else own
