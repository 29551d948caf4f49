"""The contract for plugins that take payments: how an organization's balance is topped up.

A method is registered by the hook ``risala_register_payment_methods`` (see
:mod:`risala.plugins.hookspecs`)::

    begin ──► PaymentPending ──► PaymentSettled     credited, once
                   │  ▲    └───► PaymentRefused     nothing happens
                   └──┘ claim, poll, callback, a bank's text, or the operator's word

The engine's payment service stores each step before it shows it, credits, and writes the audit
trail. A method only talks with one provider. It keeps no state that must outlive the process,
because every call gets the payment as it is stored.

**Once.** A settled payment is known by its provider and its reference, normalised
(:func:`normalised_reference`): the pair is credited once, over all methods and organizations, for
ever, however often it is reported. So a method may report the same thing twice, and must name the
same provider for the same transaction.

**When and where.** Coroutines run on the task of the caller, or of the payment service (``poll``,
and ``begin`` after a start): one call for each payment at a time, under :data:`STEP_S`; a longer
call is cancelled and counts as :class:`PaymentMethodError`. None of them runs inside a database
transaction. A ``begin`` that a crash cut off is called again with the same values.

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

from risala.sms.typed import Purpose, typed

STEP_S: Final = 30.0
"""The longest that a step may take, in seconds: a customer waits for a page."""
REFERENCE_CHARACTERS_MAX: Final = 100
"""Longest reference, counted once it is normalised: card processors' ids have about seventy."""
REFERENCE_WRITTEN_MAX: Final = 1000
"""Characters of a reference as somebody writes it, with everything that is then removed."""
ENTERED_CHARACTERS_MAX: Final = 200
"""Longest text that a customer may enter in a field; longer ones are refused before a method sees
them."""


_LATIN: Final = str.maketrans(
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "ABESIJKMHOPCTYXABEZHIKMNOPTYX",
)
"""Cyrillic and Greek capitals, and the Latin ones that look the same: whichever of the two stands
in a reference, its reader sees the same one."""


class PaymentMethodError(Exception):
    """The provider could not be asked; ``str()`` is a sentence for the operator, without secrets.

    This says nothing about the payment: it stays as it was, and the step is tried again.
    """


class ForgedCallbackError(Exception):
    """A callback that is not the provider's: its signature is missing, wrong or old.

    Answered with 400. ``str()`` is for the log, without the callback's content.
    """


class Confirmation(StrEnum):
    """The side that settles a pending payment."""

    PROVIDER = "provider"
    """:meth:`Polled.poll` or :meth:`CalledBack.callback` reports it."""
    OPERATOR = "operator"
    """The payment waits in the console for the operator's yes or no; the method is not asked."""


class Beginner(StrEnum):
    """The people who may begin payments of a method."""

    CUSTOMER = "customer"
    """An owner of the organization, on its billing page; operators too."""
    OPERATOR = "operator"
    """Only operators, such as for cash."""


@dataclass(frozen=True, slots=True)
class PaymentField:
    """A field for the customer."""

    name: str
    """The field's key among the entered values: lower-case letters, digits, ``_``."""
    label: Mapping[str, str]
    """The field's label on the page, by language (``en``, ``fr``, ``ar``); always in ``en``."""
    is_reference: bool = False
    """True: it is the transaction's reference, which is normalised, and refused if it was credited
    before."""
    is_payer: bool = False
    """True: it is the payer's mobile number, in any spelling; the customer proves
    it by a code that is sent to it. Left out if ``payments.codes_organization`` is not set."""


@dataclass(frozen=True, slots=True)
class PaymentOffer:
    """How a method is offered. Read once, after it was built."""

    title: Mapping[str, str]
    """The method's name on pages, by language; ``en`` is always there."""
    begun_by: Beginner = Beginner.CUSTOMER
    """The people who may begin a payment."""
    amount_min: int = 1
    """The least that may be paid, in minor units."""
    amount_max: int | None = None
    """The most that may be paid, in minor units; None: only the settings' limit applies."""
    asks_first: tuple[PaymentField, ...] = ()
    """Fields beside the amount, before :meth:`PaymentMethod.begin`."""
    only_in_demo: bool = False
    """No money moves: a service that is not a demo refuses to start with it."""


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment as it is stored; a method gets it in every step."""

    payment_id: str
    """Ours (``pay_…``). The idempotency key for the provider: the same in each repetition."""
    organization_id: str
    """The organization whose balance is topped up."""
    amount: int
    """Minor units that the customer wants to top up."""
    currency: str
    """ISO 4217: ``MRU``."""
    language: str
    """The language of the customer's pages: ``en``, ``fr`` or ``ar``."""
    begun_at_ms: int
    """UTC epoch milliseconds."""
    return_url: str
    """The organization's billing page, where a hosted checkout leads back to."""
    callback_url: str
    """The address where the provider's callbacks reach this method; empty where no public address
    is set."""
    reference: str | None = None
    """From the last :class:`PaymentPending`."""
    entered: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The customer's entries so far, by field."""


@dataclass(frozen=True, slots=True)
class PaymentPending:
    """The payment goes on: this is stored, and shown to the customer."""

    confirmation: Confirmation
    """The side that settles the payment."""
    reference: str | None = None
    """The provider's, as soon as it is known: later reports are matched by it."""
    instructions: Mapping[str, str] = field(default_factory=dict)
    """Instructions by language: whom to pay, with which code. Plain text."""
    checkout_url: str | None = None
    """A page of the provider's, over https, shown as a link. A method only for demos may name a
    path below ``/pay/``."""
    asks: tuple[PaymentField, ...] = ()
    """The customer's next fields; :meth:`Claimed.claim` gets them."""
    poll_after_s: float | None = None
    """When to call :meth:`Polled.poll`; None: never. It is called again after longer and longer
    waits, until the payment is settled or over."""
    expires_at_ms: int | None = None
    """UTC epoch milliseconds from which no payment is expected. A later report still settles it:
    money that came is credited."""


@dataclass(frozen=True, slots=True)
class PaymentSettled:
    """The money came. Credited once for this provider and reference."""

    provider: str
    """The owner of the reference: ``bankily``, ``stripe``. Two methods of one provider give the
    same."""
    reference: str
    """The provider's reference, in any spelling; the same payment has the same one."""
    amount: int
    """Minor units that really came. An amount other than the payment's waits for the operator; a
    bank's text is credited as it is."""
    currency: str
    """ISO 4217; a currency other than the payment's waits for the operator."""
    payer: str | None = field(default=None, repr=False)
    """The payer's number or name, if known: for the operator and the audit trail."""


@dataclass(frozen=True, slots=True)
class PaymentRefused:
    """No money will come: the payment was declined, canceled, or not found."""

    cause: str
    """A word for lists and metrics: ``declined``, ``canceled``, ``expired``, ``unknown``."""
    text: Mapping[str, str]
    """Why, and what to do now, by language; ``en`` is always there."""


Progress = PaymentPending | PaymentSettled | PaymentRefused


@dataclass(frozen=True, slots=True)
class PaymentReport:
    """A provider's own report."""

    result: PaymentSettled | PaymentRefused
    """What it told."""
    payment_id: str | None = None
    """Our payment's id, if the provider repeats it. Otherwise a pending payment of this method with
    the report's reference is used; without one the provider is refused."""
    needs_operator: bool = False
    """The provider's report is not enough proof: the payment waits for the operator."""


@dataclass(frozen=True, slots=True)
class PaymentCallback:
    """A request to ``/pay/METHOD/callback``, as it came."""

    headers: Mapping[str, str]
    """The request's headers, by lower-case name."""
    query: Mapping[str, str]
    """The query's fields, by name."""
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

        A repeat with the same ``payment_id`` must lead to the same payment at the provider.

        Raises:
            PaymentMethodError: the provider could not be asked; it is called again.
        """


@runtime_checkable
class Claimed(Protocol):
    """A method whose customers enter something after they have paid (a transaction's reference)."""

    async def claim(self, payment: Payment) -> Progress:
        """The customer filled in :attr:`PaymentPending.asks`; ``payment.entered`` has it.

        Called each time that the form is sent; the entries are already stored. A claim is not
        proof: it settles nothing unless the provider itself was asked.

        Raises:
            PaymentMethodError: the provider could not be asked; the customer may send it again.
        """


@runtime_checkable
class Polled(Protocol):
    """A method that can ask its provider."""

    async def poll(self, payment: Payment) -> Progress:
        """The payment's state; called at :attr:`PaymentPending.poll_after_s`, and when the operator
        asks.

        Called again after longer and longer waits, an hour at most, until a day after the payment's
        end, or for a week if it has no end. After that the operator decides.

        Raises:
            PaymentMethodError: the provider could not be asked.
        """


@runtime_checkable
class CalledBack(Protocol):
    """A method whose provider calls back."""

    def callback(self, callback: PaymentCallback) -> tuple[PaymentReport, ...]:
        """Check a callback's signature and read it; empty: it has nothing of interest.

        Called on the task of the request, before anything is stored; it does not wait, and uses
        only its argument and its settings. Its result is stored and settled before the provider is
        answered 200: after a lost answer the same callback comes again.

        Raises:
            ForgedCallbackError: it is not the provider's.
        """


@runtime_checkable
class Played(Protocol):
    """A method with a simulated provider: the checkout is a page of ours, in demos."""

    def played(self, payment: Payment, card: str, now_ms: int) -> PaymentCallback:
        """The callback that the provider would send after this card.

        Args:
            card: digits as they were typed, without spaces; neither stored nor shown.
            now_ms: UTC epoch milliseconds.

        Raises:
            ValueError: it is not a card of the sandbox.
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
    """A reference in the form in which references are compared, whatever its spelling.

    Compatibility forms (such as full-width and Arabic-Indic digits) become plain ones, letters
    upper-case, Cyrillic and Greek capitals the Latin ones that they look like, and everything but
    letters and digits is removed. Pure.

    Raises:
        ValueError: nothing remains, or more than :data:`REFERENCE_CHARACTERS_MAX`; or it is
            written with more than :data:`REFERENCE_WRITTEN_MAX`.
    """
    if len(reference) > REFERENCE_WRITTEN_MAX:
        raise ValueError(f"a reference is written with at most {REFERENCE_WRITTEN_MAX} characters")
    plain = typed(reference, Purpose.REFERENCE).upper().translate(_LATIN)
    kept = (str(unicodedata.digit(one, one)) for one in plain if one.isalnum())
    normalised = "".join(kept)
    if not 0 < len(normalised) <= REFERENCE_CHARACTERS_MAX:
        raise ValueError(f"a reference has 1 to {REFERENCE_CHARACTERS_MAX} letters and digits")
    return normalised
