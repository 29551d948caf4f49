"""An organization's invoices in the console: a list, each as PDF, and a month's that is missing."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.invoices.records import GET, ISSUE, LIST
from risala.http.operator.organizations.one import organization_named
from risala.http.web.face import PageAccess
from risala.http.web.invoices import of_month, paper, values_of, with_month
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

ISSUED: Final = N_("The invoice is issued.")


async def shown(request: PageRequest, organization_id: str) -> dict[str, Any]:
    """The newest invoices, and whether the month that the address names can get one."""
    month = request.form.text("month")
    newest = await request.ask(LIST, organization_id=organization_id)
    page = await with_month(request, newest, month, organization_id)
    values = values_of(page, month, request.words, request.formats.now_ms)
    is_over = "" < month < f"{request.formats.today:%Y-%m}"
    misses = is_over and page.can_issue and of_month(page, month) is None
    return {**values, "may_issue": misses and request.can(ISSUE.name)}


async def issue(request: PageRequest) -> TrioResponse:
    organization_id, month = organization_named(request), request.form.text("month")
    await request.ask(ISSUE, organization_id=organization_id, month=month)
    return request.go(request.at(f"organizations/{organization_id}/statement", month=month), ISSUED)


_ONE: Final = "/operator/organizations/<organization_id>"
ROUTES: Final = (
    PageRoute(
        path=f"{_ONE}/invoices/<invoice_id>", view=paper, access=PageAccess.OPERATOR, needs=GET
    ),
    PageRoute(
        path=f"{_ONE}/invoices",
        view=issue,
        access=PageAccess.OPERATOR,
        needs=ISSUE,
        method="POST",
        once=True,
    ),
)
