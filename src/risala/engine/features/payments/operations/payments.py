"""Payments: an organization's top-up, step by step, and operators' decisions."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field, PlainValidator

from risala.engine.features.payments import records
from risala.engine.features.payments.credit_writer import asked_field
from risala.engine.features.payments.records import (
    STATES,
    WAITING,
    OfferedMethod,
    PaymentFilter,
    PaymentMethods,
    PaymentPage,
    PaymentQueue,
    PaymentState,
    QueuedPayment,
    ShownPayment,
    StoredPayment,
)
from risala.engine.features.payments.service import PaymentService, PaymentWish
from risala.engine.features.payments.stored.repository import PaymentRepository
from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    Amount,
    ArgumentKind,
    Arguments,
    MaybeAmount,
    MaybeFlag,
    MaybeSearch,
    MaybeText,
    MaybeWhole,
    NoArguments,
    OfMaybeOrganization,
    OfOrganization,
    Text,
    fault,
    maybe,
    one_of,
    text,
    words,
)
from risala.engine.kernel.cursors import MaybeIdPlace, limit_of, written
from risala.engine.kernel.operation import Call, Operations, Weight
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import Forbidden
from risala.engine.model.people import Language
from risala.engine.model.records.asks import Steps
from risala.engine.model.records.record import shallow
from risala.engine.model.records.search import Findable
from risala.engine.operations.money import refuse_if_nobody_pays
from risala.engine.rules.roles import FINANCE, OPERATORS, OWNERS, READERS, STAFF, VIEWERS
from risala.engine.services import Services
from risala.plugins.payment import ENTERED_CHARACTERS_MAX, Beginner, normalised_reference

LISTED_MAX: Final = 200
"""The most payments in one answer."""
LISTED_USUAL: Final = 50
ENTERED_MAX: Final = 20
"""The most fields that a customer enters: more than any method asks for."""
REASON_MAX: Final = 200
_PAYMENT: Final = "pay_"
"""The beginning of payments' ids."""


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


class ListClaims(Arguments):
    """A page of payments of all organizations: those that customers say they paid with the oldest
    first, all others with the newest first."""

    status: Annotated[
        str,
        PlainValidator(one_of("invalid_status", STATES)),
        ArgumentKind("`claimed`, `open`, `confirmed`, `refused` or `all`"),
    ] = WAITING
    search: MaybeSearch = None
    """A payment's id or reference, or part of its organization's name or id."""
    before: MaybeIdPlace = None
    after: MaybeIdPlace = None
    limit: MaybeWhole = None


class SendPayerCode(OfPayment):
    """Send another code to the number that the customer says they paid from."""

    number: MaybeText = None
    """The number that gets the code; None: the number already entered."""


class CheckPayer(OfPayment):
    """Prove that the number is the customer's, by the code that was sent to it."""

    code: Text = Field(repr=False)


def shown(call: Call[Any], payment: StoredPayment) -> ShownPayment:
    """A payment during a call."""
    values = shallow(payment, ShownPayment)
    values["state"] = state = payment.state_at(call.now_ms)
    if state is not PaymentState.WAITING:
        values |= {"checkout_url": None, "asks": ()}
    values["payer"] = call.part(PaymentService).payers.status(payment)
    return ShownPayment(**values, asked_again_at=payment.poll_at)


def of_payment(services: Services, arguments: OfPayment) -> str:
    """The organization of a payment. Raises ``NotFound``."""
    return (
        services.repositories.part(PaymentRepository).payment(arguments.payment_id).organization_id
    )


FOUND: Final = (
    Findable(
        kind="payment",
        table="payments",
        title="coalesce(reference, id)",
        names=("reference", "provider"),
        prefix="pay",
        at="begun_at",
        state="state",
        note="method",
        page="billing/payments/{}",
        console="payments/{}",
        operators=STAFF,
    ),
)
"""What a search finds of payments."""
OPERATIONS: Final = Operations()
_STEP: Final[dict[str, Any]] = {
    "operators": FINANCE,
    "owner": of_payment,
    "changes": StoredPayment,
    "tops_up": True,
}


@OPERATIONS(records.METHODS, roles=VIEWERS, operators=READERS, for_all=True)
async def _methods(call: Call[NoArguments]) -> PaymentMethods:
    payments = call.part(PaymentService)
    methods = (
        OfferedMethod(
            name,
            offer.title,
            offer.amount_min,
            payments.most(offer),
            tuple(asked_field(each) for each in offer.asks_first),
            offer.only_in_demo,
        )
        for name, offer in payments.offers.items()
        if offer.begun_by is Beginner.CUSTOMER
    )
    return PaymentMethods(tuple(methods), call.services.settings.service.currency)


@OPERATIONS(
    records.BEGIN,
    roles=OWNERS,
    operators=FINANCE,
    owner=owners.named,
    changes=StoredPayment,
    tops_up=True,
    fresh=True,
)
async def _begin(call: Call[BeginPayment]) -> ShownPayment:
    refuse_if_nobody_pays(call.services)
    arguments, payments = call.arguments, call.part(PaymentService)
    offer = payments.offers.get(arguments.method)
    if offer is not None and offer.begun_by is Beginner.OPERATOR and call.caller.is_member:
        raise Forbidden("Only operators can begin payments of this method.")
    language = arguments.language.value
    wish = PaymentWish(
        arguments.organization_id, arguments.method, arguments.amount, language, arguments.entered
    )
    drafted = payments.draft(wish, call.caller.who)
    by = call.audit(AuditImage.PAYMENT, drafted.id)
    return shown(call, await payments.begin(drafted, by))


@OPERATIONS(
    records.LIST, roles=VIEWERS, operators=STAFF, owner=owners.named, reads_all_organizations=True
)
async def _list(call: Call[ListPayments]) -> PaymentPage:
    arguments = call.arguments
    limit = max(1, min(arguments.limit or LISTED_USUAL, LISTED_MAX))
    if arguments.organization_id is not None:
        call.services.accounts.organization(arguments.organization_id)
    payments = call.stored(PaymentRepository).page(
        limit + 1,
        organization_id=arguments.organization_id,
        before=arguments.before,
        is_open=bool(arguments.open),
    )
    page = tuple(shown(call, each) for each in payments[:limit])
    return PaymentPage(page, page[-1].id if len(payments) > limit else None)


@OPERATIONS(records.SHOW, roles=VIEWERS, operators=STAFF, owner=of_payment)
async def _show(call: Call[OfPayment]) -> ShownPayment:
    return shown(call, call.part(PaymentService).payment(call.arguments.payment_id))


@OPERATIONS(records.RETRY, roles=OWNERS, operators=FINANCE, owner=of_payment, tops_up=True)
async def _go_on(call: Call[OfPayment]) -> ShownPayment:
    """Ask the method again if it did not answer when the payment began."""
    return shown(call, await call.part(PaymentService).go_on(call.arguments.payment_id))


@OPERATIONS(records.CLAIM, roles=OWNERS, fresh=True, **_STEP)
async def _claim(call: Call[ClaimPayment]) -> ShownPayment:
    arguments = call.arguments
    by = call.audit(AuditImage.PAYMENT, arguments.payment_id)
    return shown(
        call, await call.part(PaymentService).claim(arguments.payment_id, arguments.entered, by)
    )


def _weigh(call: Call[ConfirmPayment]) -> Weight:
    """The sum that is credited; the payment as it is now."""
    arguments = call.arguments
    payment = call.part(PaymentService).payment(arguments.payment_id)
    amount = payment.amount if arguments.amount is None else arguments.amount
    return Weight(amount, {"state": payment.state.value, "reference": payment.reference})


@OPERATIONS(records.CONFIRM, roles=OPERATORS, four_eyes=_weigh, fresh=True, **_STEP)
async def _confirm(call: Call[ConfirmPayment]) -> ShownPayment:
    arguments = call.arguments
    details = {"unchecked": True} if arguments.unchecked else None
    by = call.audit(AuditImage.PAYMENT, arguments.payment_id, details=details)
    payment = await call.part(PaymentService).confirm(
        arguments.payment_id,
        arguments.reference,
        arguments.amount,
        call.caller.who,
        by,
        unchecked=bool(arguments.unchecked),
    )
    return shown(call, payment)


@OPERATIONS(
    records.REFUSE,
    roles=OPERATORS,
    operators=FINANCE,
    owner=of_payment,
    changes=StoredPayment,
    fresh=True,
)
async def _refuse(call: Call[RefusePayment]) -> ShownPayment:
    arguments = call.arguments
    by = call.audit(AuditImage.PAYMENT, arguments.payment_id, details={"reason": arguments.reason})
    payment = await call.part(PaymentService).refuse(
        arguments.payment_id, arguments.reason, call.caller.who, by
    )
    return shown(call, payment)


@OPERATIONS(records.QUEUE, roles=OPERATORS, operators=STAFF, reads_all_organizations=True)
async def _queue(call: Call[ListClaims]) -> PaymentQueue:
    arguments, payments = call.arguments, call.stored(PaymentRepository)
    limit = limit_of(arguments.limit)
    payment_filter, steps = _wanted(call), Steps(limit, arguments.before, arguments.after)
    read = payments.queued if arguments.status == WAITING else payments.listed
    page = read(payment_filter, steps)
    return PaymentQueue(
        tuple(_queued(call, each) for each in page.items),
        written(page.newer),
        written(page.older),
        None if page.looked_to is None else page.looked_to.begun_at,
        payments.count_claimed(),
        payments.first_claimed_at(),
    )


def _wanted(call: Call[ListClaims]) -> PaymentFilter:
    state, search = call.arguments.status, call.arguments.search
    if search is None or search.startswith(_PAYMENT):
        return PaymentFilter(state, payment_id=search)
    try:
        key = normalised_reference(search)
    except ValueError:
        return PaymentFilter(state, search)
    if call.stored(PaymentRepository).is_entered(key):
        return PaymentFilter(state, key=key)
    return PaymentFilter(state, search)


def _queued(call: Call[Any], payment: StoredPayment) -> QueuedPayment:
    services = call.services
    offer = services.part(PaymentService).offers.get(payment.method)
    name = services.accounts.organization(payment.organization_id).name
    return QueuedPayment(
        **shallow(shown(call, payment)),
        organization_name=name,
        title={} if offer is None else offer.title,
        language=payment.language,
    )


@OPERATIONS(records.SEND_CODE, roles=OWNERS, **_STEP)
async def _send(call: Call[SendPayerCode]) -> ShownPayment:
    arguments = call.arguments
    by = call.audit(AuditImage.PAYMENT, arguments.payment_id, always=True)
    return shown(
        call,
        await call.part(PaymentService).payers.send(arguments.payment_id, arguments.number, by),
    )


@OPERATIONS(records.CHECK_PAYER, roles=OWNERS, **_STEP)
async def _check(call: Call[CheckPayer]) -> ShownPayment:
    arguments = call.arguments
    by = call.audit(AuditImage.PAYMENT, arguments.payment_id)
    return shown(
        call,
        await call.part(PaymentService).payers.check(
            arguments.payment_id, arguments.code.strip(), by
        ),
    )


@OPERATIONS(records.POLL, roles=OPERATORS, **_STEP)
async def _poll(call: Call[OfPayment]) -> ShownPayment:
    """Ask the provider for the payment's state now."""
    by = call.audit(AuditImage.PAYMENT, call.arguments.payment_id, always=True)
    return shown(call, await call.part(PaymentService).polls.now(call.arguments.payment_id, by))
