"""The contract for plugins that take payments: how an organization's balance is topped up.

A method is registered by the hook ``risala_register_payment_methods`` (see
:mod:`risala.plugins.hookspecs`)::

    begin ──► PaymentPending ──► PaymentSettled     credited, once
                   │  ▲    └───► PaymentRefused     nothing happens
                   └──┘ claim, poll, callback, a bank's text, or the operator's word

The engine's desk owns payments: it stores each step before it shows it, credits, and writes the
audit trail. A method owns the talk with one way of paying and nothing else; it keeps no state
that must outlive the process, since every call is handed the payment as it is stored.

**Once.** A settled payment is known by its provider and its reference, normalised
(:func:`normalised_reference`): the pair is credited once, over all methods and organizations, for
ever, however often and by whatever way it is reported. So a method may report the same thing
twice, and must name the same provider for the same transaction.

**When and where.** Coroutines run on the task of whoever took the step, or on one of the desk's
(``poll``, and ``begin`` after a start): one call a payment at a time, under :data:`STEP_S`; what
takes longer is cancelled and counts as :class:`PaymentMethodError`. None of them runs inside a
database transaction. A ``begin`` that a crash cut off is called again with the same values.

A method whose bank confirms by SMS is :class:`risala.plugins.payment_texts.HearsTexts` as well.

**Amounts** are integer minor units (khoums) of the payment's currency.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol, runtime_checkable

from pydantic import BaseModel

STEP_S: Final = 30.0
"""The longest that a step may take, in seconds: somebody waits in front of a page."""
REFERENCE_CHARACTERS_MAX: Final = 100
"""Longest reference, counted once it is normalised: card processors' ids have about seventy."""
ENTERED_CHARACTERS_MAX: Final = 200
"""Longest text that a customer may enter in a field; the desk refuses longer ones before a method
sees them."""


_LATIN: Final = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "ABESIJKMHOPCTYXABEZHIKMNOPTYX",
)
"""Cyrillic and Greek capitals, and the Latin ones that look the same: whichever of the two stands
in a reference, its reader sees the same one."""


class PaymentMethodError(Exception):
    """The provider could not be asked; ``str()`` is a sentence for the operator, without secrets.

    Nothing is known by it: the payment stays as it was, and the step is tried again.
    """


class ForgedCallbackError(Exception):
    """A callback that is not the provider's: no signature, or a wrong one, or one from long ago.

    Answered with 400. ``str()`` is for the log: never any of its content.
    """


class Confirmation(StrEnum):
    """Whose word settles a pending payment."""

    PROVIDER = "provider"
    """:meth:`Polled.poll` or :meth:`CalledBack.callback` will tell."""
    OPERATOR = "operator"
    """The payment stands in the console until the operator says yes or no; the method is not
    asked."""


class Beginner(StrEnum):
    """Who may begin payments of a method."""

    CUSTOMER = "customer"
    """An owner of the organization, on its billing page; operators too."""
    OPERATOR = "operator"
    """Only operators: cash at the desk."""


@dataclass(frozen=True, slots=True)
class PaymentField:
    """Something that the customer enters."""

    name: str
    """Its key among what was entered: lower-case letters, digits, ``_``."""
    label: Mapping[str, str]
    """What stands beside it on the page, by language (``en``, ``fr``, ``ar``); always in ``en``."""
    is_reference: bool = False
    """True where the transaction's reference is entered: the desk normalises it and refuses one
    that was credited before."""
    is_payer: bool = False
    """True where the payer's mobile number is entered: the desk makes it ``+222XXXXXXXX``, and
    lets the customer show that it is theirs, by a code that is sent to it. Not asked for where
    the settings name nobody who sends codes."""


@dataclass(frozen=True, slots=True)
class PaymentOffer:
    """How a method is offered. Read once, after it was built."""

    title: Mapping[str, str]
    """The method's name on pages, by language; ``en`` is always there."""
    begun_by: Beginner = Beginner.CUSTOMER
    """Who may begin one."""
    amount_min: int = 1
    """The least that may be paid, in minor units."""
    amount_max: int | None = None
    """The most that may be paid, in minor units; None: only the desk's own limit holds."""
    asks_first: tuple[PaymentField, ...] = ()
    """Entered beside the amount, before :meth:`PaymentMethod.begin`."""
    only_in_demo: bool = False
    """No money moves: a service that is not a demo refuses to start with it."""


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment as it is stored: what a method is handed in every step."""

    payment_id: str
    """Ours (``pay_…``). The idempotency key for the provider: the same in each repetition."""
    organization_id: str
    """Whose balance is topped up."""
    amount: int
    """Minor units: what the customer wants to top up."""
    currency: str
    """ISO 4217: ``MRU``."""
    language: str
    """The language of the customer's pages: ``en``, ``fr`` or ``ar``."""
    begun_at_ms: int
    """UTC epoch milliseconds."""
    return_url: str
    """The organization's billing page, where a hosted checkout leads back to."""
    callback_url: str
    """Where the provider's callbacks reach this method; empty where no public address is set."""
    reference: str | None = None
    """As the last :class:`PaymentPending` told it."""
    entered: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the customer has entered so far, by field."""


@dataclass(frozen=True, slots=True)
class PaymentPending:
    """The payment goes on: this is stored, and shown to the customer."""

    confirmation: Confirmation
    """Whose word settles it."""
    reference: str | None = None
    """The provider's, as soon as it is known: what later reports are matched by."""
    instructions: Mapping[str, str] = field(default_factory=dict)
    """What to do now, by language: whom to pay by which code. Plain text."""
    checkout_url: str | None = None
    """A page of the provider's, over https: shown as a link. A method that is only in demos may
    name a path below ``/pay/``."""
    asks: tuple[PaymentField, ...] = ()
    """What the customer enters next; comes to :meth:`Claimed.claim`."""
    poll_after_s: float | None = None
    """When :meth:`Polled.poll` is worth calling; None: never. It is called again and again, after
    ever longer waits, until something is settled or the payment is over."""
    expires_at_ms: int | None = None
    """UTC epoch milliseconds from which nothing is expected any more. What is reported later is
    settled nevertheless: money that came is credited."""


@dataclass(frozen=True, slots=True)
class PaymentSettled:
    """The money is there. Credited once for this provider and reference."""

    provider: str
    """Whose references these are: ``bankily``, ``stripe``. Two methods of one provider say the
    same."""
    reference: str
    """The provider's, by which it is known again, however it is written."""
    amount: int
    """Minor units that really came. Another sum than the payment's waits for the operator; a bank's
    text alone is credited as it is."""
    currency: str
    """ISO 4217; another than the payment's waits for the operator."""
    payer: str | None = field(default=None, repr=False)
    """The payer's number or name, where it is known: for the operator and the audit trail."""


@dataclass(frozen=True, slots=True)
class PaymentRefused:
    """No money will come of it: declined, canceled, or not to be found."""

    cause: str
    """A word for lists and metrics: ``declined``, ``canceled``, ``expired``, ``unknown``."""
    text: Mapping[str, str]
    """Why, and what to do now, by language; ``en`` is always there."""


Progress = PaymentPending | PaymentSettled | PaymentRefused


@dataclass(frozen=True, slots=True)
class PaymentReport:
    """Something that a provider told by itself."""

    result: PaymentSettled | PaymentRefused
    """What it told."""
    payment_id: str | None = None
    """Our payment's id, where the provider repeats it. Else the desk looks for a pending payment of
    this method with the report's reference; the provider is refused where there is none."""
    needs_operator: bool = False
    """The provider's word is not proof enough: the payment waits for the operator."""


@dataclass(frozen=True, slots=True)
class PaymentCallback:
    """A request to ``/pay/METHOD/callback``, as it came."""

    headers: Mapping[str, str]
    """The request's headers, by lower-case name."""
    query: Mapping[str, str]
    """What stood behind the address's question mark, by name."""
    body: bytes = field(repr=False)
    """Bounded by the server; untouched, so that a signature over it can be checked."""
    received_at_ms: int
    """UTC epoch milliseconds, for signatures that carry a time."""


@runtime_checkable
class PaymentMethod(Protocol):
    """One way of paying."""

    @property
    def offer(self) -> PaymentOffer:
        """How the method is offered; read once, after it was built."""

    async def begin(self, payment: Payment) -> Progress:
        """Start a payment; called once it is stored, and again after a crash.

        A repetition with the same ``payment_id`` must come to the same payment at the provider.

        Raises:
            PaymentMethodError: the provider could not be asked; it is called again.
        """


@runtime_checkable
class Claimed(Protocol):
    """A method whose customers enter something after they have paid (a transaction's reference)."""

    async def claim(self, payment: Payment) -> Progress:
        """The customer filled in :attr:`PaymentPending.asks`; ``payment.entered`` has it.

        Called once for each time that the form is sent; the texts are stored already. A claim is
        no proof: it settles nothing unless the provider itself was asked.

        Raises:
            PaymentMethodError: the provider could not be asked; the customer may send it again.
        """


@runtime_checkable
class Polled(Protocol):
    """A method that can ask its provider."""

    async def poll(self, payment: Payment) -> Progress:
        """How it stands; at :attr:`PaymentPending.poll_after_s`, and at the operator's wish.

        Called again after ever longer waits, an hour at most: a day beyond the payment's end, or
        for a week where it has none. Who still does not know then leaves it to the operator.

        Raises:
            PaymentMethodError: the provider could not be asked.
        """


@runtime_checkable
class CalledBack(Protocol):
    """A method whose provider calls back."""

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        """Prove a callback's signature and read it; empty where it tells nothing of interest.

        Called on the task of the request, before anything is stored; it does not wait, and looks
        at nothing but its argument and its settings. What it returns is stored and settled before
        the provider is answered 200: an answer that got lost brings the same callback again.

        Raises:
            ForgedCallbackError: it is not the provider's.
        """


@runtime_checkable
class Played(Protocol):
    """A method whose provider is only played: the checkout is a page of ours, in demos."""

    def played(self, payment: Payment, card: str, now_ms: int) -> PaymentCallback:
        """The callback that the provider would send after this card.

        Args:
            card: digits as they were typed, without spaces; it is neither kept nor told.
            now_ms: UTC epoch milliseconds.

        Raises:
            ValueError: it is no card of the sandbox.
        """


@dataclass(frozen=True, slots=True)
class PaymentMethodFactory:
    """How a method is built from its table in the configuration."""

    name: str
    """The word in addresses and settings: ``/pay/NAME/callback``, ``[payments.NAME]``."""
    settings: type[BaseModel]
    """Validates ``[payments.NAME]``, unknown keys forbidden. Keys that end in ``_env`` name
    environment variables with secrets."""
    build: Callable[[Any], PaymentMethod]
    """Takes the validated settings. Opens nothing yet."""
    summary: str
    """One line for ``risala plugins``."""


def normalised_reference(reference: str) -> str:
    """A reference as it is compared: however it was typed, it is the same one.

    Compatibility forms (full-width and Arabic-Indic digits among them) become plain ones, letters
    upper-case, Cyrillic and Greek capitals the Latin ones that they look like, and everything but
    letters and digits goes. Pure.

    Raises:
        ValueError: nothing is left, or more than :data:`REFERENCE_CHARACTERS_MAX`.
    """
    plain = unicodedata.normalize("NFKC", reference).upper().translate(_LATIN)
    kept = (str(unicodedata.digit(one, one)) for one in plain if one.isalnum())
    found = "".join(kept)
    if not 0 < len(found) <= REFERENCE_CHARACTERS_MAX:
        raise ValueError(f"a reference has 1 to {REFERENCE_CHARACTERS_MAX} letters and digits")
    return found
