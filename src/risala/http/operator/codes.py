"""Codes of all organizations: how many were asked for, sent, delivered and entered, how long that
took, and what it cost; and a carrier's on its page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from risala.engine.model.records.asks import FeatureAccess
from risala.engine.model.records.verify.figures import FIGURES, CodeFigures, FiguresBy
from risala.engine.model.times import iso
from risala.http.web.code_figures import BY, PERIODS, days, shown
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.languages import N_
from risala.http.web.lists import choice
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

if TYPE_CHECKING:
    from risala.engine.features.code_figures.counting import CodeCounting

_CODES: Final[FeatureAccess[CodeCounting]] = FeatureAccess("code_figures")
OF: Final = tuple(each for each in FiguresBy if each is not FiguresBy.KEY)
"""Keys are each organization's own."""
_OF: Final = {name: label for name, label in BY.items() if name in OF}


async def _values(request: PageRequest) -> dict[str, Any]:
    """Figures by days of UTC, as organizations have several time zones."""
    period = request.form.text("period") or "month"
    chosen = FiguresBy(request.form.text("by") or FiguresBy.CARRIER)
    now = datetime.fromtimestamp(request.formats.now_ms / 1000, UTC)
    since, until = days(UTC, now.date(), period)
    times = {"period": period, "since": since, "until": until}

    async def read(by: FiguresBy) -> CodeFigures:
        span = {"by": by.value, "since": iso(since), "until": iso(until)}
        return await request.ask(FIGURES, daily=by is chosen, **span)

    return {**times, **await shown(request, read, chosen, since, {}, OF)}


async def of_carrier(request: PageRequest, carrier: str) -> dict[str, Any]:
    """For the carrier's page: how many of its codes were entered within a minute."""
    codes = request.site.gateway.access(_CODES).of_carrier(carrier)
    if codes is None or not codes.usual_asked:
        return {}
    return {
        "codes_asked": codes.usual_asked,
        "codes_share": codes.usual_in_minute / codes.usual_asked,
    }


ROUTES: Final = (
    PageRoute(
        path="/operator/codes",
        view=shows("codes/show.html", _values),
        access=PageAccess.OPERATOR,
        needs=FIGURES,
        filters=(choice("period", N_("Period"), PERIODS), choice("by", N_("By"), _OF)),
        entry=NavItem(
            "codes", "verify", N_("Codes"), key="e", after="messages", access=PageAccess.OPERATOR
        ),
    ),
)
