"""The payer of messages: customers, or nobody, because the service's owner sends for themselves."""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment, OneOf, SnakeCase

CUSTOMERS: Final = "customers"
SELF: Final = "self"
PAYERS: Final = (CUSTOMERS, SELF)


class DayAllowance(NamedTuple):
    """What an organization that sends for itself may send in one day."""

    parts: int
    ends_at: int
    """The midnight after it, in UTC epoch milliseconds."""


class PartsToday(NamedTuple):
    """What an organization that sends for itself has sent today, of what it may."""

    sent: int
    limit: int


@dataclass(frozen=True, slots=True)
class StoredPayer:
    """What operators chose while the service ran."""

    payer: str
    self_parts_per_day: int
    at: int
    """UTC epoch milliseconds."""


@dataclass(frozen=True, slots=True)
class Payer(SnakeCase):
    """The payer of messages now."""

    payer: Annotated[str, OneOf(PAYERS), AUDITED]
    self_parts_per_day: Annotated[int, AUDITED]
    """The most parts that an organization may send in a day, with `self`."""
    settings_payer: Annotated[str, OneOf(PAYERS), UNAUDITED]
    """What the settings' file says."""
    changed_at: Annotated[Moment | None, UNAUDITED]
    """When an operator changed it; None: the settings' file applies."""
    organizations: Annotated[int, UNAUDITED]
    """How many there are, without the deleted ones."""


SHOW: Final = Ask("payer.show", Payer)
SET: Final = Ask("payer.set", Payer)
