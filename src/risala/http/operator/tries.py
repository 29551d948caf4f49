"""Who tries to come in, and one button that locks the console to the reader's address."""

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


async def _values(visit: PageRequest) -> dict[str, Any]:
    found = await visit.ask(security.SHOW)
    formats = visit.formats
    return {
        "found": found,
        "chart": [Bar((each.dashboard, each.console)) for each in found.days],
        "labels": [formats.date_text(each.day) for each in found.days],
        "places": [formats.date_text(found.days[at].day) for at in (0, len(found.days) // 2, -1)],
        "address": visit.browser.address,
    }


async def lock(visit: PageRequest) -> TrioResponse:
    """Lock the console to the address that the form comes from, and to no other."""
    try:
        await visit.ask(security.LOCK, address=visit.browser.address)
    except Refusal as error:
        return await visit.again(_TEMPLATE, error, await _values(visit))
    return visit.go(visit.at("security"), LOCKED)


async def unlock(visit: PageRequest) -> TrioResponse:
    await visit.ask(security.UNLOCK)
    return visit.go(visit.at("security"), UNLOCKED)


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
