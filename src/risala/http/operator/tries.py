"""Failed attempts to sign in, and one button that locks the console to the reader's address."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.upkeep import security
from risala.http.web.charts import Bar
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

LOCKED: Final = N_("The console is locked to your address.")
UNLOCKED: Final = N_("The console is open to all addresses again.")
_PAGE: Final = "/operator/security"
_TEMPLATE: Final = "tries/show.html"


async def _values(request: PageRequest) -> dict[str, Any]:
    attempts = await request.ask(security.SHOW)
    formats = request.formats
    return {
        "attempts": attempts,
        "chart": [Bar((each.dashboard, each.console)) for each in attempts.days],
        "labels": [formats.date_text(each.day) for each in attempts.days],
        "places": [
            formats.date_text(attempts.days[at].day) for at in (0, len(attempts.days) // 2, -1)
        ],
        "address": request.browser.address,
    }


async def lock(request: PageRequest) -> TrioResponse:
    """Lock the console to the address that the form comes from, and to no other."""
    try:
        await request.ask(security.LOCK, address=request.browser.address)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return request.go(request.at("security"), LOCKED)


async def unlock(request: PageRequest) -> TrioResponse:
    await request.ask(security.UNLOCK)
    return request.go(request.at("security"), UNLOCKED)


_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(path=_PAGE, view=shows(_TEMPLATE, _values), access=_OPERATOR, needs=security.SHOW),
    PageRoute(
        path=f"{_PAGE}/lock", view=lock, access=_OPERATOR, needs=security.LOCK, method="POST"
    ),
    PageRoute(
        path=f"{_PAGE}/unlock", view=unlock, access=_OPERATOR, needs=security.UNLOCK, method="POST"
    ),
)
