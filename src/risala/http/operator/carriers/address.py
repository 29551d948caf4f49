"""The secret address at which a carrier calls: when it was made, and another one, shown once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.answering.feature import ROTATE
from risala.engine.model.errors import NotFound
from risala.engine.model.records.asks import FeatureAccess
from risala.engine.model.records.record import shallow
from risala.http.operator.carriers.listing import PAGE
from risala.http.operator.carriers.tiles import carrier_named
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

if TYPE_CHECKING:
    from risala.engine.features.answering.calls import CarrierCalls

ACCESS: Final[FeatureAccess[CarrierCalls]] = FeatureAccess("answering")
_QUESTION: Final = "carriers/address.html"


async def of_carrier(request: PageRequest, carrier: str) -> dict[str, Any]:
    """For the carrier's page: whether a secret proves who calls it, and when that was made."""
    calls = request.site.gateway.access(ACCESS)
    callee = calls.of_carrier(carrier)
    if callee is None or not callee.has_secret:
        return {}
    return {"has_address": True, "stored_address": calls.stored(carrier)}


async def _values(request: PageRequest) -> dict[str, Any]:
    carrier = carrier_named(request)
    values = await of_carrier(request, carrier)
    if not values:
        raise NotFound("There is no such page.")
    return {**values, "carrier": carrier}


async def rotate(request: PageRequest) -> TrioResponse:
    """Make an address, and show it this once."""
    made = await request.ask(ROTATE, carrier=carrier_named(request))
    return await request.page("carriers/new_address.html", shallow(made), is_secret=True)


_ADDRESS: Final = f"{PAGE}/<carrier>/address"
ROUTES: Final = (
    PageRoute(
        path=_ADDRESS, view=shows(_QUESTION, _values), access=PageAccess.OPERATOR, needs=ROTATE
    ),
    PageRoute(
        path=_ADDRESS,
        view=rotate,
        access=PageAccess.OPERATOR,
        needs=ROTATE,
        method="POST",
        once=True,
    ),
)
