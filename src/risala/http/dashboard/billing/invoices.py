"""The organization's invoices: a list beside the months, each as PDF, and what they say of it."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.invoices.records import CUSTOMER, LIST, InvoiceCustomer
from risala.engine.model.errors import Refusal
from risala.http.web.editing.declared import DeclaredForm
from risala.http.web.face import PageAccess
from risala.http.web.invoices import paper, values_of, with_month
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("Saved. The next invoice says it.")
_PAGE: Final = "settings/invoices.html"
_PATH: Final = "/app/<org>/settings/invoices"
_FORM: Final = DeclaredForm(InvoiceCustomer, ("address", "tax_id"))


async def shown(request: PageRequest) -> dict[str, Any]:
    """The newest invoices, and that of the month that the address names."""
    month = request.form.text("month") if request.http.method == "GET" else ""
    page = await with_month(request, await request.ask_here(LIST), month, request.organization_id)
    return values_of(page, month, request.words, request.formats.now_ms)


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    customer = await request.ask_here(CUSTOMER)
    typed = None if error is None else request.form
    return {
        "fields": _FORM.drawn(request.words, customer, typed),
        "labels": _FORM.labels(request.words),
    }


async def save(request: PageRequest) -> TrioResponse:
    try:
        fields = {**_FORM.given(request.form), "tax_id": request.form.text("tax_id")}
        await request.ask_here(CUSTOMER, **fields)
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("settings/invoices"), SAVED)


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/billing/invoices/<invoice_id>", view=paper, access=PageAccess.VIEWER
    ),
    PageRoute(path=_PATH, view=shows(_PAGE, _values), access=PageAccess.OWNER),
    PageRoute(path=_PATH, view=save, access=PageAccess.OWNER, method="POST"),
)
