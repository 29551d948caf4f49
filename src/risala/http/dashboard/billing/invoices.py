"""The organization's invoices: a list beside the months, and each as PDF."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.features.invoices.records import LIST
from risala.http.web.face import PageAccess
from risala.http.web.invoices import paper, values_of, with_month
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute


async def shown(request: PageRequest) -> dict[str, Any]:
    """The newest invoices, and that of the month that the address names."""
    month = request.form.text("month") if request.http.method == "GET" else ""
    page = await with_month(request, await request.ask_here(LIST), month, request.organization_id)
    return values_of(page, month, request.words, request.formats.now_ms)


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/billing/invoices/<invoice_id>", view=paper, access=PageAccess.VIEWER
    ),
)
