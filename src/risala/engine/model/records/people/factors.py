"""Second factors: the answers of their operations, and the asks for them."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.people_records.factors import Factor, FactorKind
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment


@dataclass(frozen=True, slots=True)
class FactorView:
    """A second factor, without what is secret of it."""

    id: Annotated[str, UNAUDITED]
    kind: Annotated[FactorKind, AUDITED]
    name: Annotated[str, AUDITED]
    site: Annotated[str, AUDITED]
    """Of a passkey: the host that it is for; empty for an app."""
    created_at: Annotated[Moment, UNAUDITED]
    last_used_at: Annotated[Moment | None, UNAUDITED]


def factor_view(found: Factor) -> FactorView:
    return FactorView(found.id, found.kind, found.name, found.site, found.created_at, found.used_at)


@dataclass(frozen=True, slots=True)
class FactorList:
    """A user's factors, the oldest first."""

    factors: tuple[FactorView, ...]
    recovery_codes: int
    """How many are left."""
    is_needed: Annotated[bool, UNAUDITED] = False
    """Whether their owner may not remove the last one: an operator, where operators need one."""


@dataclass(frozen=True, slots=True)
class AppSetUp:
    """An authenticator app that is being set up; nothing of it is stored yet."""

    nonce: str
    secret: str = field(repr=False)
    """What somebody types into an app that reads no QR code."""
    address: str = field(repr=False)
    """What the QR code holds."""


@dataclass(frozen=True, slots=True)
class PasskeySetUp:
    """A passkey that is being made."""

    question: str
    """For the browser, as JSON."""


@dataclass(frozen=True, slots=True)
class AddedFactor:
    """A new factor."""

    id: str
    factor: FactorView
    recovery_codes: tuple[str, ...] = field(repr=False)
    """With the first factor: each lets its owner in once. They exist only here."""


@dataclass(frozen=True, slots=True)
class RecoveryCodes:
    """Other recovery codes, in place of the earlier ones. They exist only here."""

    recovery_codes: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ResetFactors:
    """The number of factors that were deleted."""

    removed: int


LIST: Final = Ask("factor.list", FactorList)
BEGIN_APP: Final = Ask("factor.begin_app", AppSetUp)
ADD_APP: Final = Ask("factor.add_app", AddedFactor)
BEGIN_PASSKEY: Final = Ask("factor.begin_passkey", PasskeySetUp)
ADD_PASSKEY: Final = Ask("factor.add_passkey", AddedFactor)
REMOVE: Final = Ask("factor.remove", FactorView)
RENEW_CODES: Final = Ask("factor.renew_codes", RecoveryCodes)
RESET: Final = Ask("user.reset_factors", ResetFactors)
"""Of a user, by an operator: on the machine alone, in the console with a second one."""
