"""The traffic of a carrier's link in the last minutes, in the terms of its protocol."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.records.carriers import routes, state
from risala.http.operator.carriers.listing import PAGE
from risala.http.operator.carriers.tiles import BEAT_S, tile
from risala.http.web.face import PageAccess
from risala.http.web.live import Pieces
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

LINES_MAX: Final = 200
"""The latest lines that are shown; a busy link has more in a few seconds."""
_TRAFFIC: Final = f"{PAGE}/<carrier>/traffic"


async def live(request: PageRequest) -> TrioResponse:
    pieces = Pieces()

    async def draw(_: object) -> str:
        return pieces.fresh(
            await request.drawn("carriers/traffic_pieces.html", await _values(request))
        )

    return request.live(draw, by_time=True, beat_s=BEAT_S)


async def _values(request: PageRequest) -> dict[str, Any]:
    name = request.arguments["carrier"]
    lane = await request.ask(state.SHOW, carrier=name)
    traffic = await request.ask(routes.TRAFFIC, carrier=name, limit=LINES_MAX)
    return {
        "lane": lane,
        "tile": tile(request.formats, lane),
        "lines": traffic.lines[::-1],
        "lines_max": LINES_MAX,
    }


ROUTES: Final = (
    PageRoute(
        path=_TRAFFIC,
        view=shows("carriers/traffic.html", _values),
        access=PageAccess.OPERATOR,
        needs=routes.TRAFFIC,
    ),
    PageRoute(path=f"{_TRAFFIC}/live", view=live, access=PageAccess.OPERATOR, needs=routes.TRAFFIC),
)
