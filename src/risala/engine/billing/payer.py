"""The policy of who pays for messages: what intake, prices and pages ask."""

from __future__ import annotations

from copy import copy

from risala.config.model import Settings
from risala.engine.model.records.payer import CUSTOMERS, SELF, DayAllowance, StoredPayer
from risala.engine.model.records.people.organizations import Organization
from risala.engine.rules.days import next_midnight


class PayerPolicy:
    """Who pays for messages, at this moment.

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
        """The same service, where customers pay."""
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
