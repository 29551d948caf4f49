"""Payments as they are stored and shown: what an organization pays to top up its balance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypedDict


class PaymentState(StrEnum):
    """The state of a payment. The first two are open."""

    BEGUN = "begun"
    """Stored; its method has not answered yet."""
    WAITING = "waiting"
    """It waits for the customer, the provider or the operator: see :attr:`StoredPayment.asks`."""
    CONFIRMED = "confirmed"
    """Credited."""
    REFUSED = "refused"
    EXPIRED = "expired"
    """Nothing further is expected. Never stored: it follows from the time."""


Texts = Mapping[str, str]
"""A text by language; ``en`` is always present."""


@dataclass(frozen=True, slots=True)
class AskedField:
    """A field for the customer to enter."""

    name: str
    label: Texts
    is_reference: bool = False
    is_payer: bool = False


@dataclass(frozen=True, slots=True)
class StoredPayment:
    id: str
    organization_id: str
    method: str
    amount: int
    """Minor units that the customer wants to pay."""
    currency: str
    language: str
    state: PaymentState
    """As stored: :meth:`state_at` includes expiry."""
    by_operator: bool
    """An operator settles it; else its provider."""
    reference: str | None
    reference_key: str | None
    """The reference in comparable form."""
    instructions: Texts
    checkout_url: str | None
    asks: tuple[AskedField, ...]
    """What the customer has to enter next."""
    entered: Mapping[str, str] = field(repr=False)
    cause: str | None
    """For a refusal: ``declined``, ``canceled``, ``unknown``, or ``operator``."""
    why: Texts
    """The refusal's text for the customer."""
    provider: str | None
    """The owner of its reference, once it is confirmed."""
    paid: int | None
    """Minor units that really came, once it is confirmed."""
    payer: str | None = field(repr=False)
    entry: int | None
    """The number of its ledger entry."""
    begun_by: str
    decided_by: str | None
    """Who confirmed or refused it; None: its provider."""
    begun_at: int
    claimed_at: int | None
    """When the customer reported that they paid."""
    decided_at: int | None
    expires_at: int | None
    poll_at: int | None = None
    """When its provider is asked next; None: never."""
    polls: int = 0
    """How often the provider was asked."""
    poll_every: int | None = None
    """Milliseconds that the method wants between two polls, at first."""
    payer_number: str | None = field(default=None, repr=False)
    """The number from which the customer says they paid."""
    payer_session: str | None = None
    """The session of the last code sent to that number."""
    payer_codes: int = 0
    """How many codes were sent."""
    payer_checked_at: int | None = None
    """When the customer entered the code: the number is theirs."""

    @property
    def is_open(self) -> bool:
        """Neither confirmed nor refused."""
        return self.state in (PaymentState.BEGUN, PaymentState.WAITING)

    def state_at(self, now_ms: int) -> PaymentState:
        """Its state at a given time."""
        over = self.expires_at is not None and self.expires_at <= now_ms
        return PaymentState.EXPIRED if over and self.is_open else self.state


class PaymentChange(TypedDict, total=False):
    """Changed fields of an open payment; missing ones stay."""

    state: PaymentState
    by_operator: bool
    reference: str | None
    reference_key: str | None
    instructions: Texts
    checkout_url: str | None
    asks: tuple[AskedField, ...]
    entered: Mapping[str, str]
    claimed_at: int | None
    expires_at: int | None
    poll_at: int | None
    polls: int
    poll_every: int | None
    payer_number: str | None
    payer_session: str | None
    payer_codes: int
    payer_checked_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentCredit:
    """A payment is credited with the amount that came."""

    payment_id: str
    provider: str
    """The owner of the reference."""
    reference: str
    key: str
    """The reference in comparable form."""
    amount: int
    """Minor units that came."""
    payer: str | None = field(repr=False)
    by: str | None
    """Who confirmed it; None: its provider."""
    at: int


WAITING: Final = "claimed"
STATES: Final = (WAITING, "open", "confirmed", "refused", "all")
"""The states by which payments can be listed."""


@dataclass(frozen=True, slots=True)
class PaymentFilter:
    """Which payments are in a list."""

    state: str = WAITING
    """One of :data:`STATES`."""
    search: str | None = None
    """Part of the organization's name or id; None: any."""
    key: str | None = None
    """A reference in comparable form: only payments that have it."""
    payment_id: str | None = None
    """Only this one."""
