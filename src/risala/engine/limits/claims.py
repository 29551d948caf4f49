"""The messages to the rate buckets: one vocabulary for every limit (contract §2, §3, §4)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from risala.dataclass import dataclass
from risala.engine.model.commands import AddressUse, PeopleUse
from risala.engine.rules.code_guards import CodeGuards


class TakeSms(NamedTuple):
    """Take tokens from an organization's bucket; answers with None.

    Refused with :class:`~risala.engine.model.errors.RateLimited` if too few are left.
    """

    organization_id: str
    rate_per_s: float | None
    """The organization's own rate; None: the general one."""
    tokens: int = 1


class GiveBackSms(NamedTuple):
    """Put tokens back: the sends that took them did not happen."""

    organization_id: str
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class TakeAddress:
    """Count one call from a client's address; for IPv6, from its /64."""

    use: AddressUse
    bucket: Hashable


@dataclass(frozen=True, slots=True)
class TakePeople:
    """Take one place in each of these windows, or in none; answers with None."""

    uses: tuple[tuple[PeopleUse, Hashable], ...]
    """What is counted, and for which address, mail domain or organization; None: over all."""


@dataclass(frozen=True, slots=True)
class CodeSlot:
    """One code's place in the hour of its number and in that of its organization, by the wall
    clock.

    It is reserved before the commit. After a successful commit the place stays taken; after a
    failed one, :class:`ReleaseCode` gives it back.
    """

    organization_id: str
    recipient: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class ReserveCode:
    """Reserve a place for a code; answers with None, refused if one of the two hours is full."""

    slot: CodeSlot
    per_phone_max: int
    per_organization_max: int
    heeds_cooldown: bool = True


@dataclass(frozen=True, slots=True)
class ReleaseCode:
    """Give back a code's place: its commit failed."""

    slot: CodeSlot


@dataclass(frozen=True, slots=True)
class SetGeneralRate:
    """The operator changed the general rate of sends; None: no limit."""

    sms_per_s: float | None


@dataclass(frozen=True, slots=True)
class SetCodeGuards:
    """The operator changed which numbers get codes, and the least time between codes."""

    guards: CodeGuards


@dataclass(frozen=True, slots=True)
class DoubtCode:
    """The journal found an hour full in which the actor had room: read both hours again."""

    slot: CodeSlot


LimitsMessage = (
    TakeSms
    | GiveBackSms
    | TakeAddress
    | TakePeople
    | ReserveCode
    | ReleaseCode
    | DoubtCode
    | SetGeneralRate
    | SetCodeGuards
)
