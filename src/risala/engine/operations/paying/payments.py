"""Payments: an organization's top-up, step by step, and operators' decisions."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import Forbidden
from risala.engine.model.people import Language
from risala.engine.model.records.paying import payments
from risala.engine.model.records.paying.payments import (
    OfferedMethod,
    PaymentMethods,
    PaymentPage,
    PaymentState,
    ShownPayment,
    StoredPayment,
)
from risala.engine.model.records.record import shallow
from risala.engine.operations import owners
from risala.engine.operations.arguments import (
    Amount,
    ArgumentKind,
    Arguments,
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
from risala.engine.operations.money import refuse_if_nobody_pays
from risala.engine.operations.operation import Call, Operation, Weight, operation
from risala.engine.payments.sources import PaymentWish
from risala.engine.payments.steps import asked_field
from risala.engine.rules.roles import FINANCE, OPERATORS, OWNERS, READERS, STAFF, VIEWERS
from risala.engine.services import Services
from risala.plugins.payment import ENTERED_CHARACTERS_MAX, Beginner

LISTED_MAX: Final = 200
"""The most payments in one answer."""
LISTED_USUAL: Final = 50
ENTERED_MAX: Final = 20
"""The most fields that a customer enters: more than any method asks for."""
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
    """The method's first fields."""


class OfPayment(Arguments):
    """Names one payment."""

    payment_id: Text


class ClaimPayment(OfPayment):
    """Say that it is paid, with the method's fields."""

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
    """The amount that came; None: the payment's amount."""
    reference: Annotated[
        str | None,
        PlainValidator(maybe(words(ENTERED_CHARACTERS_MAX))),
        ArgumentKind("text on one line"),
    ] = None
    """The transaction's reference; None: the one that the customer entered."""
    unchecked: MaybeFlag = None
    """Even if the customer was asked to prove the payer's number, and has not."""


class RefusePayment(OfPayment):
    """Say that no money came, and why."""

    reason: Annotated[str, PlainValidator(words(REASON_MAX)), ArgumentKind("text on one line")]


def shown(call: Call[Any], found: StoredPayment) -> ShownPayment:
    """A payment during a call."""
    values = shallow(found, ShownPayment)
    values["state"] = state = found.state_at(call.now_ms)
    if state is not PaymentState.WAITING:
        values |= {"checkout_url": None, "asks": ()}
    values["payer"] = call.services.payments.payers.status(found)
    return ShownPayment(**values, asked_again_at=found.poll_at)


def of_payment(services: Services, given: OfPayment) -> str:
    """The organization of a payment. Raises ``NotFound``."""
    return services.repositories.payments.payment(given.payment_id).organization_id


async def _methods(call: Call[NoArguments]) -> PaymentMethods:
    desk = call.services.payments
    methods = (
        OfferedMethod(
            name,
            offer.title,
            offer.amount_min,
            desk.most(offer),
            tuple(asked_field(each) for each in offer.asks_first),
            offer.only_in_demo,
        )
        for name, offer in desk.offers.items()
        if offer.begun_by is Beginner.CUSTOMER
    )
    return PaymentMethods(tuple(methods), call.services.settings.service.currency)


async def _begin(call: Call[BeginPayment]) -> ShownPayment:
    refuse_if_nobody_pays(call.services)
    given, desk = call.given, call.services.payments
    offer = desk.offers.get(given.method)
    if offer is not None and offer.begun_by is Beginner.OPERATOR and call.caller.is_member:
        raise Forbidden("Only operators can begin payments of this method.")
    language = given.language.value
    wish = PaymentWish(given.organization_id, given.method, given.amount, language, given.entered)
    drafted = desk.draft(wish, call.caller.who)
    by = call.audit(AuditImage.PAYMENT, drafted.id)
    return shown(call, await desk.begin(drafted, by))


async def _go_on(call: Call[OfPayment]) -> ShownPayment:
    """Ask the method again if it did not answer when the payment began."""
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
    return PaymentPage(page, page[-1].id if len(found) > limit else None)


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


def _weigh(call: Call[ConfirmPayment]) -> Weight:
    """The sum that is credited; the payment as it is now."""
    given = call.given
    found = call.services.payments.payment(given.payment_id)
    amount = found.amount if given.amount is None else given.amount
    return Weight(amount, {"state": found.state.value, "reference": found.reference})


async def _refuse(call: Call[RefusePayment]) -> ShownPayment:
    given = call.given
    by = call.audit(AuditImage.PAYMENT, given.payment_id, said={"reason": given.reason})
    found = await call.services.payments.refuse(given.payment_id, given.reason, call.caller.who, by)
    return shown(call, found)


STEP: Final[dict[str, Any]] = {
    "owner": of_payment,
    "changes": StoredPayment,
    "tops_up": True,
}
OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    operation(
        payments.METHODS, NoArguments, _methods, roles=VIEWERS, operators=READERS, for_all=True
    ),
    operation(
        payments.BEGIN,
        BeginPayment,
        _begin,
        roles=OWNERS,
        operators=FINANCE,
        owner=owners.named,
        changes=StoredPayment,
        tops_up=True,
        fresh=True,
    ),
    operation(
        payments.LIST,
        ListPayments,
        _list,
        roles=VIEWERS,
        operators=STAFF,
        owner=owners.named,
        crosses=True,
    ),
    operation(payments.SHOW, OfPayment, _show, roles=VIEWERS, operators=STAFF, owner=of_payment),
    operation(
        payments.RETRY,
        OfPayment,
        _go_on,
        roles=OWNERS,
        operators=FINANCE,
        owner=of_payment,
        tops_up=True,
    ),
    operation(
        payments.CLAIM, ClaimPayment, _claim, roles=OWNERS, operators=FINANCE, **STEP, fresh=True
    ),
    operation(
        payments.CONFIRM,
        ConfirmPayment,
        _confirm,
        roles=OPERATORS,
        operators=FINANCE,
        weighs=_weigh,
        fresh=True,
        **STEP,
    ),
    operation(
        payments.REFUSE,
        RefusePayment,
        _refuse,
        roles=OPERATORS,
        operators=FINANCE,
        owner=of_payment,
        changes=StoredPayment,
        fresh=True,
    ),
)
