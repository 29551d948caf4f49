"""A month of an organization's money, in the console: as its own members see it."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.statements.records import STATEMENT, MonthStatement
from risala.http.operator.organizations.one import organization_named
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.http.web.statements import month_in, paper_response, values_of


async def shown(request: PageRequest, organization_id: str) -> dict[str, Any]:
    """The month that the address names, or the present one."""
    statement = await _statement(request, organization_id, request.form.text("month"))
    return values_of(statement, request.words, request.formats.now_ms)


async def paper(request: PageRequest) -> TrioResponse:
    """The month as a PDF."""
    organization_id = organization_named(request)
    statement = await _statement(request, organization_id, month_in(request))
    return await paper_response(statement, request.words)


async def _statement(request: PageRequest, organization_id: str, month: str) -> MonthStatement:
    named = {"month": month} if month else {}
    return await request.ask(STATEMENT, organization_id=organization_id, **named)


ROUTES: Final = (
    PageRoute(
        path="/operator/organizations/<organization_id>/months/<month>",
        view=paper,
        access=PageAccess.OPERATOR,
        needs=STATEMENT,
    ),
)
