"""A month of the organization's money: what each day cost, by what was sent; as PDF too."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.statements.records import STATEMENT, MonthStatement
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.http.web.statements import month_in, paper_response, values_of


async def shown(request: PageRequest) -> dict[str, Any]:
    """The month that the address names, or the present one."""
    named = request.form.text("month") if request.http.method == "GET" else ""
    statement = await _statement(request, named)
    return values_of(statement, request.words, request.formats.now_ms)


async def paper(request: PageRequest) -> TrioResponse:
    """The month as a PDF."""
    return await paper_response(await _statement(request, month_in(request)), request.words)


async def _statement(request: PageRequest, month: str) -> MonthStatement:
    return await request.ask_here(STATEMENT, **({"month": month} if month else {}))


ROUTES: Final = (
    PageRoute(path="/app/<org>/billing/months/<month>", view=paper, access=PageAccess.VIEWER),
)
