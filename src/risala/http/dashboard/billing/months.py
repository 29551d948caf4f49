"""A month of the organization's money: what each day cost, by what was sent; as PDF too."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.statements.records import STATEMENT, MonthStatement
from risala.http.web.charts import top_of_lines
from risala.http.web.face import PageAccess
from risala.http.web.formats import Formats
from risala.http.web.languages import N_
from risala.http.web.lists import typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.http.web.statements import (
    first_day,
    formats_of,
    month_in,
    next_month,
    paper_response,
    parts_of,
    scale_of,
    values_of,
)


async def shown(request: PageRequest) -> dict[str, Any]:
    """The month that the address names, or the present one."""
    named = request.form.text("month") if request.http.method == "GET" else ""
    statement = await _statement(request, named)
    now_ms = request.formats.now_ms
    formats = formats_of(statement, request.words, now_ms)
    values = values_of(statement, request.words, now_ms)
    return {**values, "balance_at": partial(_balance, statement, formats)}


def _balance(statement: MonthStatement, formats: Formats, a_day: int) -> dict[str, Any]:
    """The balance at the end of each day of the month, and how it goes on from today at a pace.

    Args:
        a_day: minor units; 0: there is no pace.
    """
    first = first_day(statement)
    days = [first + timedelta(days=number) for number in range((next_month(first) - first).days)]
    known = {each.day: each.balance_after for each in statement.days}
    balance: list[int | None] = []
    last = statement.opening
    for day in days:
        last = known.get(day.isoformat(), last)
        balance.append(max(last, 0) if day <= formats.today else None)
    ahead: list[int | None] = [None] * len(days)
    if formats.today in days and a_day > 0:
        for number in range(days.index(formats.today), len(days)):
            passed = number - days.index(formats.today)
            ahead[number] = max(statement.closing - passed * a_day, 0)
    curves = (ahead, (), balance)
    return {
        "balance_curves": curves,
        "balance_scale": scale_of(statement.currency, top_of_lines(curves), formats),
        "has_pace": any(each is not None for each in ahead),
    }


async def paper(request: PageRequest) -> TrioResponse:
    """The month as a PDF."""
    return await paper_response(await _statement(request, month_in(request)), request.words)


async def _statement(request: PageRequest, month: str) -> MonthStatement:
    return await request.ask_here(STATEMENT, **({"month": month} if month else {}))


async def own_parts(request: PageRequest) -> TrioResponse:
    """What left on each day of a month while nobody paid for it; where customers pay, nothing leads
    here."""
    statement = await _statement(request, request.form.text("month"))
    values = parts_of(statement, request.words, request.formats.now_ms)
    return await request.page("billing/parts.html", **values)


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/day-parts",
        view=own_parts,
        access=PageAccess.VIEWER,
        filters=(typed("month", N_("Month")),),
    ),
    PageRoute(path="/app/<org>/billing/months/<month>", view=paper, access=PageAccess.VIEWER),
)
