"""Payments as they are stored and shown: what an organization pays to top up its balance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, Protocol, TypedDict

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask, FeatureAccess
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment, Money

if TYPE_CHECKING:
    from risala.plugins.payment import PaymentCallback


class PaymentState(StrEnum):
    """The state of a payment. The first two are open."""

    BEGUN = "begun"
    """Stored; its method has not answered yet."""
    WAITING = "waiting"
    """The payment waits for the customer, the provider or the operator: see
    :attr:`StoredPayment.asks`."""
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
    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    method: Annotated[str, AUDITED]
    amount: Annotated[Money, AUDITED]
    """Minor units that the customer wants to pay."""
    currency: Annotated[str, UNAUDITED]
    language: Annotated[str, UNAUDITED]
    state: Annotated[PaymentState, AUDITED]
    """The state as stored: :meth:`state_at` includes expiry."""
    by_operator: Annotated[bool, UNAUDITED]
    """An operator settles it; else its provider."""
    reference: Annotated[str | None, AUDITED]
    reference_key: Annotated[str | None, UNAUDITED]
    """The reference in comparable form."""
    instructions: Annotated[Texts, UNAUDITED]
    checkout_url: Annotated[str | None, UNAUDITED]
    asks: Annotated[tuple[AskedField, ...], UNAUDITED]
    """What the customer has to enter next."""
    entered: Annotated[Mapping[str, str], UNAUDITED] = field(repr=False)
    cause: Annotated[str | None, UNAUDITED]
    """The cause of a refusal: ``declined``, ``canceled``, ``unknown``, or ``operator``."""
    why: Annotated[Texts, UNAUDITED]
    """The refusal's text for the customer."""
    provider: Annotated[str | None, UNAUDITED]
    """The owner of its reference, once it is confirmed."""
    paid: Annotated[Money | None, AUDITED]
    """Minor units that really came, once it is confirmed."""
    payer: Annotated[str | None, UNAUDITED] = field(repr=False)
    entry: Annotated[int | None, UNAUDITED]
    """The number of its ledger entry."""
    begun_by: Annotated[str, UNAUDITED]
    decided_by: Annotated[str | None, UNAUDITED]
    """The operator or method that confirmed or refused it; None: its provider."""
    begun_at: Annotated[int, UNAUDITED]
    claimed_at: Annotated[int | None, UNAUDITED]
    """When the customer reported that they paid."""
    decided_at: Annotated[int | None, UNAUDITED]
    expires_at: Annotated[int | None, UNAUDITED]
    poll_at: Annotated[int | None, UNAUDITED] = None
    """When its provider is asked next; None: never."""
    polls: Annotated[int, UNAUDITED] = 0
    """How often the provider was asked."""
    poll_every: Annotated[int | None, UNAUDITED] = None
    """Milliseconds that the method wants between two polls, at first."""
    payer_number: Annotated[str | None, UNAUDITED] = field(default=None, repr=False)
    """The number from which the customer says they paid."""
    payer_session: Annotated[str | None, UNAUDITED] = None
    """The session of the last code sent to that number."""
    payer_codes: Annotated[int, UNAUDITED] = 0
    """How many codes were sent."""
    payer_checked_at: Annotated[int | None, UNAUDITED] = None
    """When the customer entered the code: the number is theirs."""

    @property
    def is_open(self) -> bool:
        """Neither confirmed nor refused."""
        return self.state in (PaymentState.BEGUN, PaymentState.WAITING)

    def state_at(self, now_ms: int) -> PaymentState:
        """The payment's state at a given time."""
        over = self.expires_at is not None and self.expires_at <= now_ms
        return PaymentState.EXPIRED if over and self.is_open else self.state


class PayerState(StrEnum):
    """Whether a customer has proved that the payer's number is theirs."""

    NONE = "none"
    """No proof is needed: the method does not ask, or no organization of the operator sends
    codes."""
    UNSENT = "unsent"
    """A code could not be sent, or the last one has expired."""
    SENT = "sent"
    CHECKED = "checked"


@dataclass(frozen=True, slots=True)
class PayerStatus:
    """The payer's number, and whether it is proved to be the customer's."""

    number: str
    state: PayerState
    codes_left: int
    """How many further codes may be sent."""


@dataclass(frozen=True, slots=True)
class ShownPayment:
    """A payment at a moment."""

    id: str
    organization_id: str
    method: str
    amount: Money
    currency: str
    state: PaymentState
    by_operator: bool
    reference: str | None
    entered: Mapping[str, str] = field(repr=False)
    payer: PayerStatus | None
    """None: nobody was asked for the payer's number."""
    instructions: Texts
    checkout_url: str | None
    """None also where nothing is to be paid any more."""
    asks: tuple[AskedField, ...]
    """Empty also where nothing is to be entered any more."""
    cause: str | None
    why: Texts
    paid: Money | None
    entry: int | None
    begun_by: str
    decided_by: str | None
    begun_at: Moment
    claimed_at: Moment | None
    decided_at: Moment | None
    expires_at: Moment | None
    asked_again_at: Moment | None


@dataclass(frozen=True, slots=True)
class PaymentPage:
    """Payments, the newest first."""

    payments: tuple[ShownPayment, ...]
    next: str | None
    """The ``before`` of the next page; None: this is the last one."""


@dataclass(frozen=True, slots=True)
class QueuedPayment(ShownPayment):
    """A payment with what its decision is made by."""

    organization_name: str
    title: Texts
    """The title of the payment's method; empty: there is no such method any more."""
    language: str


@dataclass(frozen=True, slots=True)
class PaymentQueue:
    payments: tuple[QueuedPayment, ...]
    newer: str | None
    older: str | None
    looked_to: Moment | None
    """The search came this far; None: to the end."""
    waiting: int
    oldest_at: Moment | None
    """Since when the first of those that wait does."""


@dataclass(frozen=True, slots=True)
class OfferedMethod:
    """A way to top up."""

    name: str
    title: Texts
    amount_min: Money
    amount_max: Money
    asks_first: tuple[AskedField, ...]
    demo_only: bool


@dataclass(frozen=True, slots=True)
class PaymentMethods:
    """How organizations may top up."""

    methods: tuple[OfferedMethod, ...]
    currency: str


METHODS: Final = Ask("payment.methods", PaymentMethods)
BEGIN: Final = Ask("payment.begin", ShownPayment)
LIST: Final = Ask("payment.list", PaymentPage)
SHOW: Final = Ask("payment.show", ShownPayment)
RETRY: Final = Ask("payment.retry", ShownPayment)
CLAIM: Final = Ask("payment.claim", ShownPayment)
SEND_CODE: Final = Ask("payment.send_code", ShownPayment)
CHECK_PAYER: Final = Ask("payment.check_payer", ShownPayment)
POLL: Final = Ask("payment.poll", ShownPayment)
CONFIRM: Final = Ask("payment.confirm", ShownPayment)
REFUSE: Final = Ask("payment.refuse", ShownPayment)
QUEUE: Final = Ask("payment.queue", PaymentQueue)


class PaymentAccess(Protocol):
    """What is no operation: providers' callbacks, and the checkout of demos."""

    async def callback(self, name: str, callback: PaymentCallback, /) -> int:
        """Take a provider's callback; returns how many payments it was about, once all is on disk.

        Raises:
            NotFound: the method does not exist, or has no callbacks; or no payment fits.
            ForgedCallbackError: it is not the provider's.
            Unavailable: it could not be stored; the provider calls again.
        """

    def playable(self, payment_id: str, /) -> StoredPayment:
        """A payment whose checkout is a page of ours. Raises ``NotFound``."""

    async def play(self, payment_id: str, card: str, /) -> StoredPayment:
        """Pay at the simulated checkout: its provider's callback comes at once.

        Raises:
            NotFound: the payment does not exist, or its checkout is not ours.
            Invalid: it is no card of the sandbox.
        """


ACCESS: Final[FeatureAccess[PaymentAccess]] = FeatureAccess("payments")


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
    """The operator or method that confirmed it; None: its provider."""
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
