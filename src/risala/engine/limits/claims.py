"""What the rate buckets are asked: one vocabulary for every limit (contract §2, §3, §4)."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from risala.engine.model.commands import AddressUse


@dataclass(frozen=True, slots=True)
class TakeSms:
    """Tokens of an organization's bucket; answers with None.

    Refused with :class:`~risala.engine.model.errors.RateLimited` where they are not there.
    """

    organization_id: str
    rate_per_s: float | None
    """The organization's own rate; None: the general one."""
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class GiveBackSms:
    """What the tokens were taken for did not happen."""

    organization_id: str
    tokens: int = 1


@dataclass(frozen=True, slots=True)
class TakeAddress:
    """One call of a client's address, which is a bucket of addresses for IPv6."""

    use: AddressUse
    bucket: Hashable


@dataclass(frozen=True, slots=True)
class CodeSlot:
    """A place in the hour of a number and of its organization, by the clock on the wall.

    Reserved before the commit. Committed: it stays. Failed: :class:`ReleaseCode` takes it back.
    """

    organization_id: str
    recipient: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class ReserveCode:
    """A place for a code; answers with None, refused where one of the two hours is full."""

    slot: CodeSlot
    per_phone_max: int
    per_organization_max: int


@dataclass(frozen=True, slots=True)
class ReleaseCode:
    slot: CodeSlot


@dataclass(frozen=True, slots=True)
class SetGeneralRate:
    """The operator changed the general rate of sends; None: no limit."""

    sms_per_s: float | None


@dataclass(frozen=True, slots=True)
class DoubtCode:
    """The journal found an hour full that had room here: read both of them again."""

    slot: CodeSlot


LimitsMessage = (
    TakeSms | GiveBackSms | TakeAddress | ReserveCode | ReleaseCode | DoubtCode | SetGeneralRate
)
