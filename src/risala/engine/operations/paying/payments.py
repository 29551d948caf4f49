"""Payments: how an organization tops up, step by step, and what operators decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from pydantic import PlainValidator

from risala.engine.model.audit import AuditImage
from risala.engine.model.callers import Role
from risala.engine.model.errors import Forbidden
from risala.engine.model.money import money
from risala.engine.model.people import Language
from risala.engine.model.records.payments import AskedField, PaymentState, StoredPayment, Texts
from risala.engine.model.times import iso, maybe_iso
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    Amount,
    ArgumentKind,
    Arguments,
    Json,
    MaybeAmount,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    NoArguments,
    OfMaybeOrganization,
    OfOrganization,
    Text,
    fault,
    maybe,
    text,
    words,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.payments.payers import PayerStatus
from risala.engine.payments.sources import PaymentWish
from risala.engine.rules.roles import OPERATORS, OWNERS, VIEWERS
from risala.plugins.payment import ENTERED_CHARACTERS_MAX, Beginner, PaymentField, PaymentOffer

LISTED_MAX: Final = 200
"""Payments of one answer at most."""
LISTED_USUAL: Final = 50
ENTERED_MAX: Final = 20
"""Fields that a customer enters at most: more than any method asks for."""
REASON_MAX: Final = 200


def _entered(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > ENTERED_MAX:
        raise fault("invalid_entries", "`{name}` must be texts by the names of their fields.")
    return {text(name): each if each == "" else text(each) for name, each in value.items()}


def _language(value: object) -> Language:
    try:
        return Language.FRENCH if value is None else Language(text(value))
    except ValueError:
        raise fault("invalid_language", "`{name}` is `fr`, `ar` or `en`.") from None


Entered = Annotated[dict[str, str], PlainValidator(_entered), ArgumentKind("texts by field")]


class BeginPayment(OfOrganization):
    """Begin a payment: the answer says how to go on."""

    method: Text
    amount: Amount
    language: Annotated[Language, PlainValidator(_language), ArgumentKind("`fr`, `ar` or `en`")] = (
        Language.FRENCH
    )
    entered: Entered = {}  # noqa: RUF012 -- never changed: arguments are frozen
    """What the method asks for first."""


class OfPayment(Arguments):
    """Names one payment."""

    payment_id: Text


A = TypeVar("A", bound=OfPayment)


class ClaimPayment(OfPayment):
    """Say that it is paid, with what the method asks."""

    entered: Entered


class ListPayments(OfMaybeOrganization):
    """Payments, the newest first."""

    open: MaybeFlag = None
    """Only those that are neither confirmed nor refused."""
    before: MaybeText = None
    """The id of a payment: only older ones are listed."""
    limit: MaybeWhole = None


class ConfirmPayment(OfPayment):
    """Credit a payment, once."""

    amount: MaybeAmount = None
    """What really came; None: what the customer wanted to pay."""
    reference: Annotated[
        str | None,
        PlainValidator(maybe(words(ENTERED_CHARACTERS_MAX))),
        ArgumentKind("text on one line"),
    ] = None
    """The transaction's own; None: the one that the customer entered."""
    unchecked: MaybeFlag = None
    """Also where the customer was asked to show that the payer's number is theirs, and has not."""


class RefusePayment(OfPayment):
    """Say that no money came, and why."""

    reason: Annotated[str, PlainValidator(words(REASON_MAX)), ArgumentKind("text on one line")]


@dataclass(frozen=True, slots=True)
class PaymentMethods:
    """How organizations may top up, and the most that is paid at once, in minor units."""

    offers: Mapping[str, PaymentOffer]
    amount_max: int
    currency: str


@dataclass(frozen=True, slots=True)
class ShownPayment:
    """A payment at a moment."""

    payment: StoredPayment
    state: PaymentState
    payer: PayerStatus


@dataclass(frozen=True, slots=True)
class PaymentPage:
    """Payments, the newest first."""

    payments: tuple[ShownPayment, ...]
    next: str | None
    """The ``before`` of the next page; None: this is the last one."""


def _methods_wire(found: PaymentMethods) -> Json:
    def most(offer: PaymentOffer) -> int:
        own = offer.amount_max
        return found.amount_max if own is None else min(own, found.amount_max)

    return {
        "methods": [
            {
                "name": name,
                "title": dict(offer.title),
                "amountMin": money(offer.amount_min),
                "amountMax": money(most(offer)),
                "asksFirst": [_asked_wire(each) for each in offer.asks_first],
                "demoOnly": offer.only_in_demo,
            }
            for name, offer in found.offers.items()
            if offer.begun_by is Beginner.CUSTOMER
        ],
        "currency": found.currency,
    }


def _asked_wire(asked: AskedField | PaymentField) -> Json:
    label: Texts = asked.label
    return {
        "name": asked.name,
        "label": dict(label),
        "isReference": asked.is_reference,
        "isPayer": asked.is_payer,
    }


def payment_wire(shown: ShownPayment) -> Json:
    """A payment with how it stands; amounts as decimal strings."""
    found = shown.payment
    asks: tuple[AskedField, ...] = found.asks if shown.state is PaymentState.WAITING else ()
    waits = shown.state is PaymentState.WAITING
    return {
        "id": found.id,
        "organizationId": found.organization_id,
        "method": found.method,
        "amount": money(found.amount),
        "currency": found.currency,
        "state": shown.state.value,
        "byOperator": found.by_operator,
        "reference": found.reference,
        "entered": dict(found.entered),
        "payer": _payer_wire(shown.payer),
        "instructions": dict(found.instructions),
        "checkoutUrl": found.checkout_url if waits else None,
        "asks": [_asked_wire(each) for each in asks],
        "cause": found.cause,
        "why": dict(found.why),
        "paid": None if found.paid is None else money(found.paid),
        "entry": found.entry,
        "begunBy": found.begun_by,
        "decidedBy": found.decided_by,
        "begunAt": iso(found.begun_at),
        "claimedAt": maybe_iso(found.claimed_at),
        "decidedAt": maybe_iso(found.decided_at),
        "expiresAt": maybe_iso(found.expires_at),
        "askedAgainAt": maybe_iso(found.poll_at),
    }


def _payer_wire(payer: PayerStatus) -> Json | None:
    """The payer's number, and how far it is shown to be the customer's; null: nobody asked."""
    if payer.number is None:
        return None
    return {"number": payer.number, "state": payer.state.value, "codesLeft": payer.codes_left}


def _page_wire(page: PaymentPage) -> Json:
    return {"payments": [payment_wire(each) for each in page.payments], "next": page.next}


def shown(call: Call[Any], found: StoredPayment) -> ShownPayment:
    """A payment at the moment of a call."""
    payer = call.services.payments.payer(found)
    return ShownPayment(found, found.state_at(call.now_ms), payer)


async def _methods(call: Call[NoArguments]) -> PaymentMethods:
    desk = call.services.payments
    return PaymentMethods(desk.offers, desk.amount_max, call.services.settings.service.currency)


async def _begin(call: Call[BeginPayment]) -> ShownPayment:
    given, desk = call.given, call.services.payments
    offer = desk.offers.get(given.method)
    if offer is not None and offer.begun_by is Beginner.OPERATOR and call.caller.is_member:
        raise Forbidden("Payments of this method are begun by operators.")
    language = given.language.value
    wish = PaymentWish(given.organization_id, given.method, given.amount, language, given.entered)
    drafted = desk.draft(wish, call.caller.who)
    by = call.audit(AuditImage.PAYMENT, drafted.id)
    return shown(call, await desk.begin(drafted, by))


async def _go_on(call: Call[OfPayment]) -> ShownPayment:
    """Ask the method again, where it did not answer when the payment was begun."""
    payment_id = call.given.payment_id
    return shown(call, await call.services.payments.go_on(payment_id))


async def _claim(call: Call[ClaimPayment]) -> ShownPayment:
    given = call.given
    by = call.audit(AuditImage.PAYMENT, given.payment_id)
    found = await call.services.payments.claim(given.payment_id, given.entered, by)
    return shown(call, found)


async def _list(call: Call[ListPayments]) -> PaymentPage:
    given = call.given
    limit = max(1, min(given.limit or LISTED_USUAL, LISTED_MAX))
    if given.organization_id is not None:
        call.services.accounts.organization(given.organization_id)
    found = call.services.repositories.payments.page(
        limit + 1,
        organization_id=given.organization_id,
        before=given.before,
        is_open=bool(given.open),
    )
    page = tuple(shown(call, each) for each in found[:limit])
    return PaymentPage(page, page[-1].payment.id if len(found) > limit else None)


async def _show(call: Call[OfPayment]) -> ShownPayment:
    return shown(call, call.services.payments.payment(call.given.payment_id))


async def _confirm(call: Call[ConfirmPayment]) -> ShownPayment:
    given = call.given
    said = {"unchecked": True} if given.unchecked else None
    by = call.audit(AuditImage.PAYMENT, given.payment_id, said=said)
    found = await call.services.payments.confirm(
        given.payment_id,
        given.reference,
        given.amount,
        call.caller.who,
        by,
        unchecked=bool(given.unchecked),
    )
    return shown(call, found)


async def _refuse(call: Call[RefusePayment]) -> ShownPayment:
    given = call.given
    by = call.audit(AuditImage.PAYMENT, given.payment_id, said={"reason": given.reason})
    found = await call.services.payments.refuse(given.payment_id, given.reason, call.caller.who, by)
    return shown(call, found)


def of_one(
    name: str,
    arguments: type[A],
    handler: Callable[[Call[A]], Awaitable[ShownPayment]],
    roles: frozenset[Role],
    *,
    changes: bool = False,
    tops_up: bool = False,
) -> Operation[A, ShownPayment]:
    """An operation on one payment, which answers with it."""
    return Operation(
        name=name,
        arguments=arguments,
        result=ShownPayment,
        wire=payment_wire,
        handler=handler,
        roles=roles,
        owner=owners.of_payment,
        changes=changes,
        tops_up=tops_up,
    )


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="payment.methods",
        arguments=NoArguments,
        result=PaymentMethods,
        wire=_methods_wire,
        handler=_methods,
        roles=VIEWERS,
        for_all=True,
    ),
    Operation(
        name="payment.begin",
        arguments=BeginPayment,
        result=ShownPayment,
        wire=payment_wire,
        handler=_begin,
        roles=OWNERS,
        owner=owners.named,
        changes=True,
        tops_up=True,
    ),
    Operation(
        name="payment.list",
        arguments=ListPayments,
        result=PaymentPage,
        wire=_page_wire,
        handler=_list,
        roles=VIEWERS,
        owner=owners.named,
        crosses=True,
    ),
    of_one("payment.show", OfPayment, _show, VIEWERS),
    of_one("payment.retry", OfPayment, _go_on, OWNERS, tops_up=True),
    of_one("payment.claim", ClaimPayment, _claim, OWNERS, changes=True, tops_up=True),
    of_one("payment.confirm", ConfirmPayment, _confirm, OPERATORS, changes=True, tops_up=True),
    of_one("payment.refuse", RefusePayment, _refuse, OPERATORS, changes=True),
)
