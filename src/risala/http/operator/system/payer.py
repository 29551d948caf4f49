"""The choice who pays for messages: shown, and changed from the next message on."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Conflict, Refusal
from risala.engine.model.records import ledger
from risala.engine.model.records.ledger import CUSTOMERS, SELF
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

CHANGED: Final = N_("From the next message on it is so.")
_PAGE: Final = "/operator/system/payer"
_TEMPLATE: Final = "system/payer.html"
_SURE: Final = "SEVERAL_ORGANIZATIONS"
CHOICES: Final = (
    (CUSTOMERS, N_("My customers"), N_("Each organization has a balance, each part a price.")),
    (SELF, N_("Nobody: I send for myself"), N_("No prices, no balance: a number of parts a day.")),
)


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(_TEMPLATE, await _values(request))


async def _values(request: PageRequest, *, asks_again: bool = False) -> dict[str, Any]:
    setting = await request.ask(ledger.SHOW_PAYER)
    return {
        "setting": setting,
        "form": request.form if request.http.method == "POST" else None,
        "choices": [(key, request.words(name), request.words(hint)) for key, name, hint in CHOICES],
        "asks_again": asks_again,
    }


async def change(request: PageRequest) -> TrioResponse:
    """Change it; where there are several organizations, once it is confirmed again."""
    form = request.form
    typed = form.text("self_parts_per_day")
    parts = int(typed) if typed.isascii() and typed.isdecimal() else typed or None
    try:
        await request.ask(
            ledger.SET_PAYER,
            payer=form.text("payer"),
            self_parts_per_day=parts,
            sure=form.ticked("sure"),
        )
    except Refusal as error:
        again = isinstance(error, Conflict) and error.code == _SURE
        values = await _values(request, asks_again=again or form.ticked("sure"))
        return await request.again(_TEMPLATE, error, values)
    return request.go(request.at("system/payer"), CHANGED)


ROUTES: Final = (
    PageRoute(path=_PAGE, view=show, access=PageAccess.OPERATOR, needs=ledger.SHOW_PAYER),
    PageRoute(
        path=_PAGE, view=change, access=PageAccess.OPERATOR, needs=ledger.SET_PAYER, method="POST"
    ),
)
