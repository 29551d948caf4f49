"""Verify's figures: how many codes were asked for, sent, delivered and entered, how long that took,
and what it cost."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.model.records import keys
from risala.engine.model.records.verify.figures import FIGURES, CodeFigures, FiguresBy
from risala.engine.model.times import iso
from risala.http.web.code_figures import BY, PERIODS, days, shown
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.lists import choice
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

FILTERS: Final = (choice("period", N_("Period"), PERIODS), choice("by", N_("By"), BY))


async def _values(request: PageRequest) -> dict[str, Any]:
    period = request.form.text("period") or "month"
    chosen = FiguresBy(request.form.text("by") or FiguresBy.CARRIER)
    since, until = days(request.formats.zone, request.formats.today, period)
    known = await _key_names(request) if chosen is FiguresBy.KEY else {}
    times = {"period": period, "since": since, "until": until}

    async def read(by: FiguresBy) -> CodeFigures:
        span = {"by": by.value, "since": iso(since), "until": iso(until)}
        return await request.ask_here(FIGURES, mode=request.mode.value, daily=by is chosen, **span)

    return {**times, **await shown(request, read, chosen, since, known)}


async def _key_names(request: PageRequest) -> dict[str, str]:
    listed = await request.ask_here(keys.LIST)
    return {each.id: each.name or each.id for each in listed.keys}


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/verify/figures",
        view=shows("verify/figures.html", _values),
        access=PageAccess.VIEWER,
        filters=FILTERS,
    ),
)
