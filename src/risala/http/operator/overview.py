"""What an operator sees first: what waits for their word."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.http.web.access import PageAccess
from risala.http.web.routes import PageRoute
from risala.http.web.visit import Visit


async def show(visit: Visit) -> TrioResponse:
    return await visit.page("overview/show.html")


ROUTES: Final = (PageRoute(path="/operator/overview", view=show, access=PageAccess.OPERATOR),)
