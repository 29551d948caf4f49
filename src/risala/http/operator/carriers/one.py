"""One carrier: its pace and weight, its driver's commands, its life, receipts without a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.carriers import state
from risala.engine.model.records.carriers.state import CommandAnswer
from risala.http.operator.carriers.driver_words import (
    driver_facts,
    driver_line,
    driver_phrase,
)
from risala.http.operator.carriers.listing import PAGE
from risala.http.operator.carriers.tiles import tile
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

CHANGED: Final = N_("It applies at once, until you undo it here.")
ENDED: Final = N_("The settings file applies again.")
WHY_UNMATCHED: Final = {
    "unknown": N_("no message has this id"),
    "recipient": N_("the id is of a message to another number"),
    "several": N_("several messages have this id"),
}
COUNTS: Final = {
    "submitted": N_("Parts given to it"),
    "accepted": N_("accepted"),
    "throttled": N_("asked to be slower"),
    "refused": N_("refused"),
    "uncertain": N_("without an answer"),
    "late": N_("answered too late"),
}
"""Since the service started."""
_ONE: Final = f"{PAGE}/<carrier>"
_TEMPLATE: Final = "carriers/one.html"


async def _values(request: PageRequest, answer: CommandAnswer | None = None) -> dict[str, Any]:
    name = request.arguments["carrier"]
    lane = await request.ask(state.SHOW, carrier=name)
    words = request.words
    return {
        "tile": tile(request.formats, lane),
        "lane": lane,
        "counts": [(label, getattr(lane, name)) for name, label in COUNTS.items()],
        "why_unmatched": WHY_UNMATCHED,
        "commands": [
            (each.name, each.arguments, driver_phrase(words, each.summary))
            for each in lane.commands
        ],
        "trace": [(each.at, driver_line(words, each.text)) for each in reversed(lane.trace)],
        "facts": driver_facts(words, lane.driver, lane.details),
        "answer": answer and driver_facts(words, lane.driver, answer.answer),
        "asked": answer and answer.command,
        "form": request.form,
    }


async def override(request: PageRequest) -> TrioResponse:
    """Set another pace or weight than the settings have."""
    form, name = request.form, request.arguments["carrier"]
    typed = {
        field: form.text(field).replace(",", ".")
        for field in ("rate_per_s", "weight")
        if form.text(field)
    }
    try:
        await request.ask(state.OVERRIDE, carrier=name, **_numbers(typed))
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return request.go(request.at(f"carriers/{name}"), CHANGED)


def _numbers(typed: Mapping[str, str]) -> dict[str, object]:
    """Numbers where possible; the operation refuses any other text, with its field."""
    numbers: dict[str, object] = dict(typed)
    for field, kind in (("rate_per_s", float), ("weight", int)):
        try:
            numbers[field] = kind(typed[field])
        except (KeyError, ValueError):
            continue
    return numbers


async def end_override(request: PageRequest) -> TrioResponse:
    name = request.arguments["carrier"]
    try:
        await request.ask(state.END_OVERRIDE, carrier=name)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return request.go(request.at(f"carriers/{name}"), ENDED)


async def ask(request: PageRequest) -> TrioResponse:
    """Run a command of the driver's own; the answer is on this page only."""
    form = request.form
    arguments = form.text("arguments").split()
    try:
        answer = await request.ask(
            state.ASK,
            carrier=request.arguments["carrier"],
            command=form.text("command"),
            arguments=arguments,
        )
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return await request.page(_TEMPLATE, await _values(request, answer))


ROUTES: Final = (
    PageRoute(
        path=_ONE, view=shows(_TEMPLATE, _values), access=PageAccess.OPERATOR, needs=state.SHOW
    ),
    PageRoute(
        path=f"{_ONE}/override",
        view=override,
        access=PageAccess.OPERATOR,
        needs=state.OVERRIDE,
        method="POST",
    ),
    PageRoute(
        path=f"{_ONE}/override/end",
        view=end_override,
        access=PageAccess.OPERATOR,
        needs=state.END_OVERRIDE,
        method="POST",
    ),
    PageRoute(
        path=f"{_ONE}/ask",
        view=ask,
        access=PageAccess.OPERATOR,
        needs=state.ASK,
        method="POST",
        once=True,
    ),
)
