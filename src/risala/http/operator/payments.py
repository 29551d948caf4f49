"""Payments that customers report: an operator finds the money, or declares that none came."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.payments import records as payments
from risala.engine.features.payments import text_records as bank_texts
from risala.engine.features.payments.records import PaymentState, QueuedPayment, ShownPayment
from risala.engine.model.errors import Conflict, NotFound, Refusal, Unavailable
from risala.engine.model.money import money
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.people.organizations import SHOW
from risala.engine.model.records.record import shallow
from risala.http.operator.bank import TextView, shown_text
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_
from risala.http.web.lists import choice, cursors, pager_of, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

STATES: Final = {
    "claimed": NC_("payments", "To confirm"),
    "open": NC_("payments", "Not paid yet"),
    "confirmed": NC_("payments", "Confirmed"),
    "refused": NC_("payments", "Refused"),
    "all": NC_("payments", "All"),
}
LOOKS: Final = {
    "begun": ("pending", NC_("payments", "Begun")),
    "waiting": ("pending", NC_("payments", "Not paid yet")),
    "claimed": ("waiting", NC_("payments", "To confirm")),
    "confirmed": ("approved", NC_("payments", "Confirmed")),
    "refused": ("denied", NC_("payments", "Refused")),
    "expired": ("expired", NC_("payments", "Expired")),
}
"""The badge and the word of each state of a payment."""
FIELDS: Final = {"reference": N_("Reference"), "payer": N_("Paid from")}
"""The fields that customers enter, as operators call them."""
REASONS: Final = (
    N_("No such payment is in the account."),
    N_("The amount received is different."),
    N_("The reference is that of somebody else’s payment."),
)
"""The most frequent reasons of a refusal, as suggestions."""
CREDITED: Final = N_("The payment is credited, and the owners are notified.")
POLLED: Final = N_("The provider was asked.")
REFUSED: Final = N_("The payment is refused, and the owners are notified of the reason.")
OLD_MS: Final = 86_400_000
"""A payment that waits for longer than a day is late."""
_LIST: Final = "payments/list.html"
_ONE: Final = "payments/one.html"
_TWINS_MAX: Final = 10
"""The maximum of shown payments with the same reference."""


@dataclass(frozen=True, slots=True)
class PaymentView(QueuedPayment):
    """A payment as an operator sees it."""

    is_claimed: bool
    badge: str
    word: str
    is_old: bool
    method_title: str
    why_told: str
    fields: tuple[tuple[Markup, str], ...]
    """What the customer entered, by the name of its field."""


async def _listed(request: PageRequest) -> dict[str, Any]:
    state, search = request.form.text("status"), request.form.text("q")
    query = {"status": state} if state else {}
    if search:
        query["q"] = search
    status = query.get("status", "claimed")
    cursors = request.form.filled("before", "after")
    queue = await request.ask(payments.QUEUE, status=status, search=search or None, **cursors)
    lines = await request.ask(bank_texts.LINES)
    return {
        "queue": queue,
        "has_texts": bool(lines.lines) or lines.unmatched > 0,
        "open_texts": sum(each.open for each in lines.lines) + lines.unmatched,
        "payments": [_view(request, each) for each in queue.payments],
        "state": status,
        "states": STATES,
        "query": query,
        "pager": pager_of(request.at("payments"), query, newer=queue.newer, older=queue.older),
    }


def _view(request: PageRequest, payment: QueuedPayment) -> PaymentView:
    claimed_at = payment.claimed_at
    waits = payment.state is PaymentState.WAITING and payment.by_operator
    is_claimed = waits and claimed_at is not None
    badge, word = LOOKS["claimed" if is_claimed else payment.state]
    return PaymentView(
        **shallow(payment),
        is_claimed=is_claimed,
        badge=badge,
        word=word,
        is_old=is_claimed and request.formats.now_ms - (claimed_at or 0) > OLD_MS,
        method_title=request.in_language(payment.title) or payment.method,
        why_told=request.in_language(payment.why),
        fields=tuple(
            (request.words(FIELDS[name]) if name in FIELDS else request.code(name), text)
            for name, text in payment.entered.items()
        ),
    )


async def _one(request: PageRequest) -> dict[str, Any]:
    """One payment, its organization's balance, and others that claim to have paid it."""
    payment_id = request.arguments["payment_id"]
    queue = await request.ask(payments.QUEUE, status="all", search=payment_id)
    payment = next((each for each in queue.payments if each.id == payment_id), None)
    if payment is None:
        raise NotFound("There is no such payment.")
    whose = payment.organization_id
    organization = await request.ask(SHOW, organization_id=whose)
    twins = await _twins(request, payment)
    return {
        "payment": _view(request, payment),
        "amount": money(payment.amount),
        "organization": organization,
        "after": organization.balance + payment.amount,
        "texts": await _texts(request, payment),
        "may_poll": payment.state in (PaymentState.BEGUN, PaymentState.WAITING)
        and (not payment.by_operator or payment.asked_again_at is not None),
        "credited": [each for each in twins if each.state is PaymentState.CONFIRMED],
        "rivals": [each for each in twins if each.is_claimed],
        "reasons": REASONS,
        "form": request.form,
        "asked": "",
    }


async def _twins(request: PageRequest, payment: QueuedPayment) -> list[PaymentView]:
    """The other payments with the reference of one."""
    if payment.reference is None:
        return []
    arguments = {"status": "all", "search": payment.reference, "limit": _TWINS_MAX}
    queue = (await request.ask(payments.QUEUE, **arguments)).payments
    same = (each for each in queue if each.reference is not None)
    return [_view(request, each) for each in same if each.id != payment.id]


async def _texts(request: PageRequest, payment: QueuedPayment) -> list[TextView]:
    """The bank's messages about a payment's reference, if a SIM receives them for its method."""
    if not request.can(bank_texts.LIST):
        return []
    lines = (await request.ask(bank_texts.LINES)).lines
    if payment.reference is None or payment.method not in {each.method for each in lines}:
        return []
    listed = await request.ask(bank_texts.LIST, payment_id=payment.id, limit=_TWINS_MAX)
    return [shown_text(each) for each in listed.texts]


async def poll(request: PageRequest) -> TrioResponse:
    """Ask the payment's provider now."""
    payment_id = request.arguments["payment_id"]
    try:
        await request.ask(payments.POLL, payment_id=payment_id)
    except (Conflict, Unavailable) as error:
        return await request.again(_ONE, error, await _one(request))
    return request.go(request.at(f"payments/{payment_id}"), POLLED)


async def confirm(request: PageRequest) -> TrioResponse:
    form = request.form
    more = {"unchecked": True} if form.ticked("unchecked") else {}
    return await _decide(
        request,
        payments.CONFIRM,
        CREDITED,
        amount=form.amount("amount") or None,
        reference=form.text("reference") or None,
        **more,
    )


async def refuse(request: PageRequest) -> TrioResponse:
    return await _decide(
        request, payments.REFUSE, REFUSED, reason=request.form.text("reason") or None
    )


async def _decide(
    request: PageRequest, ask: Ask[ShownPayment], notice: str, **arguments: object
) -> TrioResponse:
    payment_id = request.arguments["payment_id"]
    try:
        await request.ask(ask, payment_id=payment_id, **arguments)
    except NotFound:
        raise
    except Refusal as error:
        return await request.again(
            _ONE, error, {**await _one(request), "asked": ask.name.removeprefix("payment.")}
        )
    return request.go(request.at("payments"), notice)


_PAGE: Final = "/operator/payments"
_PAYMENT: Final = f"{_PAGE}/<payment_id>"
_OPERATOR: Final = PageAccess.OPERATOR
FILTERS: Final = (
    typed("q", N_("Reference, number of the payment, or organization"), "search"),
    choice("status", N_("State"), STATES),
    *cursors(),
)
ROUTES: Final = (
    PageRoute(
        path=_PAGE,
        view=shows(_LIST, _listed),
        access=_OPERATOR,
        needs=payments.QUEUE,
        filters=FILTERS,
    ),
    PageRoute(path=_PAYMENT, view=shows(_ONE, _one), access=_OPERATOR, needs=payments.QUEUE),
    PageRoute(
        path=f"{_PAYMENT}/confirm",
        view=confirm,
        access=_OPERATOR,
        needs=payments.CONFIRM,
        method="POST",
        once=True,
    ),
    PageRoute(
        path=f"{_PAYMENT}/poll", view=poll, access=_OPERATOR, needs=payments.POLL, method="POST"
    ),
    PageRoute(
        path=f"{_PAYMENT}/refuse",
        view=refuse,
        access=_OPERATOR,
        needs=payments.REFUSE,
        method="POST",
    ),
)
