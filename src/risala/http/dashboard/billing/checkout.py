"""The paths for payment providers: the address of their callbacks; and, in demos, a checkout that
imitates a provider's. A card's number is read from its form, passed on, and in no answer."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from quart import request
from quart_trio.wrappers import TrioResponse

from risala.engine.features.payments.records import ACCESS, StoredPayment
from risala.engine.model.errors import Invalid, NotFound, Unavailable
from risala.http.web.app import WebApp
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.plugins.payment import ForgedCallbackError, PaymentCallback
from risala.sms.typed import Purpose, typed

_PAGE: Final = "pay/checkout.html"


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(_PAGE, _values(request, _payment(request)))


async def pay(request: PageRequest) -> TrioResponse:
    payment = _payment(request)
    card = typed(request.form.text("card"), Purpose.NUMBER)
    try:
        await request.site.gateway.access(ACCESS).play(payment.id, card)
    except Invalid:
        fault = request.words("Only the two test cards work here. Never type a real card’s number.")
        return await request.wrong(_PAGE, {"card": fault}, _values(request, payment))
    return request.go(_back(payment))


def _payment(request: PageRequest) -> StoredPayment:
    payment = request.site.gateway.access(ACCESS).playable(request.arguments["payment_id"])
    if payment.method != request.arguments["method"]:
        raise NotFound("There is no such payment.")
    return payment


def _values(request: PageRequest, payment: StoredPayment) -> dict[str, Any]:
    return {
        "payment": payment,
        "state": payment.state_at(request.formats.now_ms).value,
        "back": _back(payment),
    }


def _back(payment: StoredPayment) -> str:
    return f"/app/{quote(payment.organization_id)}/billing/payments/{quote(payment.id)}"


def add_callbacks(app: WebApp) -> None:
    """Take providers' callbacks: signed, by programs, so without the mark of our forms."""

    async def callback(method: str) -> TrioResponse:
        body = await request.get_data(cache=False, as_text=False, parse_form_data=False)
        received = PaymentCallback(
            headers={name.lower(): value for name, value in request.headers.items()},
            query=request.args.to_dict(),
            body=body,
            received_at_ms=app.site.clock.now_ms(),
        )
        try:
            await app.site.gateway.access(ACCESS).callback(method, received)
        except ForgedCallbackError:
            return _answer(400, "The callback is not signed as it must be.")
        except NotFound:
            return _answer(404, "There is nothing that this callback is about.")
        except Unavailable:
            return _answer(503, "Not now. Call again.")
        return _answer(200, "Taken.")

    app.add_url_rule(
        "/pay/<method>/callback",
        "payment callback",
        callback,
        methods=["POST"],
        provide_automatic_options=False,
    )


def _answer(status: int, sentence: str) -> TrioResponse:
    reply = TrioResponse(sentence.encode(), status, content_type="text/plain; charset=utf-8")
    reply.headers["cache-control"] = "no-store"
    return reply


_CHECKOUT: Final = "/pay/<method>/checkout/<payment_id>"
ROUTES: Final = (
    PageRoute(path=_CHECKOUT, view=show, access=PageAccess.PUBLIC),
    PageRoute(path=_CHECKOUT, view=pay, access=PageAccess.PUBLIC, method="POST"),
)
