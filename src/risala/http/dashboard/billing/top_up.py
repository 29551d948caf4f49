"""Top-ups in three steps: choose method and amount, pay, and see it confirmed."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.payments import records as payments
from risala.engine.features.payments.records import PayerState, PaymentState, ShownPayment
from risala.engine.model.errors import Invalid, Refusal
from risala.http.dashboard.billing import statement
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute

CLAIMED: Final = N_("Thank you. We check that it has arrived in our account, then credit it.")
CODE_SENT: Final = N_("A code is on its way.")
_PAGE: Final = "billing/payment.html"
_ENTERED: Final = "entered"
_WAITING_MAX: Final = 10
"""Payments under way that the page shows."""


async def ways(request: PageRequest) -> dict[str, Any]:
    """The possible ways to pay, and the unfinished payments."""
    methods = (await request.ask(payments.METHODS)).methods
    under_way = await request.ask_here(payments.LIST, open=True, limit=_WAITING_MAX)
    return {
        "methods": methods,
        "titles": {each.name: request.in_language(each.title) for each in methods},
        "under_way": [
            each for each in under_way.payments if each.state is not PaymentState.EXPIRED
        ],
    }


async def begin(request: PageRequest) -> TrioResponse:
    form = request.form
    method = form.text("method")
    prefix = f"{_ENTERED}-{method}-"
    entered = {
        name.removeprefix(prefix): form.text(name)
        for name in form.fields
        if name.startswith(prefix) and form.text(name)
    }
    try:
        payment = await request.ask_here(
            payments.BEGIN,
            method=method,
            amount=form.amount("amount"),
            language=request.words.language.value,
            entered=entered,
        )
    except Refusal as error:
        faults = faults_of(request.words, error, request.plan)
        if _ENTERED in faults:
            faults[f"{prefix}{_field(error)}"] = faults.pop(_ENTERED)
        return await request.wrong(
            statement.PAGE, faults, await statement.values(request), form=form
        )
    return request.go(_at(request, payment.id))


def _field(error: Refusal) -> str:
    """The name of the wrong field."""
    return error.path.partition(".")[2] if isinstance(error, Invalid) else ""


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(_PAGE, await _values(request), form=request.form)


async def claim(request: PageRequest) -> TrioResponse:
    entered = {each: text for each in request.form.fields if (text := request.form.text(each))}
    payment = await _payment(request)
    fields = {each.name for each in payment.asks}
    try:
        await request.ask(
            payments.CLAIM,
            payment_id=payment.id,
            entered={name: text for name, text in entered.items() if name in fields},
        )
    except Refusal as error:
        faults = faults_of(request.words, error, request.plan)
        if _ENTERED in faults:
            faults[_field(error)] = faults.pop(_ENTERED)
        return await request.wrong(_PAGE, faults, await _values(request), form=request.form)
    return request.go(_at(request, payment.id), CLAIMED)


async def retry(request: PageRequest) -> TrioResponse:
    """Ask the provider again, that did not answer when the payment was begun."""
    payment = await _payment(request)
    await request.ask(payments.RETRY, payment_id=payment.id)
    return request.go(_at(request, payment.id))


async def send_code(request: PageRequest) -> TrioResponse:
    """Send another code to the number that the customer paid from."""
    payment, number = await _payment(request), request.form.text("number") or None
    try:
        await request.ask(payments.SEND_CODE, payment_id=payment.id, number=number)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request), form=request.form)
    return request.go(_at(request, payment.id), CODE_SENT)


async def check_payer(request: PageRequest) -> TrioResponse:
    """Judge the code that was sent to that number."""
    payment, code = await _payment(request), request.form.text("code")
    try:
        if not code:
            raise Invalid("code", "missing", "`code` is required.")
        await request.ask(payments.CHECK_PAYER, payment_id=payment.id, code=code)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request), form=request.form)
    return request.go(_at(request, payment.id), CLAIMED)


async def _payment(request: PageRequest) -> ShownPayment:
    return await request.ask(payments.SHOW, payment_id=request.arguments["payment_id"])


async def _values(request: PageRequest) -> dict[str, Any]:
    payment = await _payment(request)
    methods = (await request.ask(payments.METHODS)).methods
    titles = {each.name: request.in_language(each.title) for each in methods}
    return {
        "payment": payment,
        "title": titles.get(payment.method, payment.method),
        "instructions": request.in_language(payment.instructions),
        "why": request.in_language(payment.why),
        "asks": payment.asks,
        "labels": {
            "code": request.words("Code"),
            "number": request.words("Number that you paid from"),
            **{each.name: request.in_language(each.label) for each in payment.asks},
        },
        "owed": _is_owed(payment),
        "own": f"billing/payments/{payment.id}",
    }


def _is_owed(payment: ShownPayment) -> bool:
    """Whether the customer is to show that the payer's number is theirs."""
    payer = payment.payer
    waits = payment.state is PaymentState.WAITING and not payment.asks
    return waits and payer is not None and payer.state in (PayerState.SENT, PayerState.UNSENT)


def _at(request: PageRequest, payment_id: str) -> str:
    return request.at(f"billing/payments/{payment_id}")


_PAYMENT: Final = "/app/<org>/billing/payments/<payment_id>"
_OWNER: Final = PageAccess.OWNER
ROUTES: Final = (
    PageRoute(
        path="/app/<org>/billing/payments", view=begin, access=_OWNER, method="POST", once=True
    ),
    PageRoute(path=_PAYMENT, view=show, access=PageAccess.VIEWER),
    PageRoute(path=_PAYMENT, view=claim, access=_OWNER, method="POST", once=True),
    PageRoute(path=f"{_PAYMENT}/payer", view=send_code, access=_OWNER, method="POST", once=True),
    PageRoute(path=f"{_PAYMENT}/code", view=check_payer, access=_OWNER, method="POST"),
    PageRoute(path=f"{_PAYMENT}/retry", view=retry, access=_OWNER, method="POST"),
)
