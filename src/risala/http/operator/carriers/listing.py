"""An overview of all carriers, and the present route of a number."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.carriers import routes, state
from risala.engine.model.records.carriers.state import CarrierCondition
from risala.http.operator.carriers.tiles import BEAT_S, carrier_named, tile
from risala.http.operator.carriers.words import reason_sentence
from risala.http.web.face import PageAccess
from risala.http.web.formats import Formats
from risala.http.web.languages import N_, network_name
from risala.http.web.live import Pieces
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute

PAGE: Final = "/operator/carriers"
DONE: Final = {
    "pause": (state.PAUSE, N_("Paused: nothing is sent this way until it is resumed.")),
    "resume": (state.RESUME, N_("It takes messages again.")),
    "drain": (state.DRAIN, N_("It takes nothing new, and finishes what it has begun.")),
    "reconnect": (state.RECONNECT, N_("It reconnects.")),
}
UNSERVED_MAX: Final = 30
"""The maximum of listed prefixes without a carrier; a plan without gaps has none."""


async def show(request: PageRequest) -> TrioResponse:
    return await request.page("carriers/list.html", await _values(request, await _route(request)))


async def _values(request: PageRequest, route: dict[str, Any]) -> dict[str, Any]:
    compared = await request.of_features("carriers")
    return {**await _tiles(request), **route, **compared}


async def live(request: PageRequest) -> TrioResponse:
    pieces = Pieces()

    async def draw(_: object) -> str:
        return pieces.fresh(await request.drawn("carriers/pieces.html", await _tiles(request)))

    return request.live(draw, by_time=True, beat_s=BEAT_S)


async def _tiles(request: PageRequest) -> dict[str, Any]:
    listed, unserved = await request.ask(state.LIST), await request.ask(routes.UNSERVED)
    return {
        "tiles": [tile(request.formats, lane) for lane in listed.carriers],
        "unserved": unserved,
        "gaps": [
            {
                "prefix": each.prefix,
                "network": network_name(each.network) if each.network else None,
                "whys": [
                    (one.carrier, reason_sentence(request.formats, one.reason))
                    for one in each.carriers
                ],
            }
            for each in unserved.numbers[:UNSERVED_MAX]
        ],
        "more_gaps": max(0, len(unserved.numbers) - UNSERVED_MAX),
    }


async def _route(request: PageRequest) -> dict[str, Any]:
    """The question to the route tester, from the page's address, and its answer."""
    typed = request.form.text("to")
    values: dict[str, Any] = {"typed": typed, "route": None, "faults": {}}
    if not typed:
        return values
    try:
        route = await request.ask(routes.TEST, to=request.form.text("to"))
    except Refusal as error:
        return {**values, "faults": faults_of(request.words, error, request.plan)}
    return {
        **values,
        "route": route,
        "network": network_name(route.network) if route.network else None,
        "candidates": [
            (each, _match(each.match), _why(request.formats, each.reason))
            for each in route.candidates
        ],
        "others": [
            (each.carrier, reason_sentence(request.formats, each.reason)) for each in route.others
        ],
    }


def _why(formats: Formats, reason: CarrierCondition) -> Markup:
    sentence, condition = reason_sentence(formats, reason), reason.values.get("condition")
    if condition in (None, "up"):
        return sentence
    return sentence + " " + reason_sentence(formats, CarrierCondition(condition, {}))


def _match(match: CarrierCondition) -> str | None:
    """The match by which a carrier serves the number; None: it serves all numbers."""
    if match.code == "network":
        return network_name(match.values.get("network", ""))
    prefix = match.values.get("prefix")
    return f"{prefix}…" if prefix else None


async def act(request: PageRequest) -> TrioResponse:
    """Pause, resume, drain or reconnect."""
    action = request.arguments["action"]
    if action not in DONE:
        return request.go(PAGE)
    (operation, notice), name = DONE[action], carrier_named(request)
    try:
        await request.ask(operation, carrier=name)
    except Refusal as error:
        values = await _values(request, {"typed": "", "route": None})
        return await request.again("carriers/list.html", error, values)
    back = request.at(f"carriers/{name}") if request.form.text("back") == "one" else PAGE
    return request.go(back, notice)


ROUTES: Final = (
    PageRoute(path=PAGE, view=show, access=PageAccess.OPERATOR, needs=state.LIST),
    PageRoute(path=f"{PAGE}/live", view=live, access=PageAccess.OPERATOR, needs=state.LIST),
    PageRoute(
        path=f"{PAGE}/<carrier>/do/<action>",
        view=act,
        access=PageAccess.OPERATOR,
        needs=state.PAUSE,
        method="POST",
    ),
)
