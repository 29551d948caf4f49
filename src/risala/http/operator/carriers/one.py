"""One carrier: its pace and weight, the ways to its modem, its driver's commands and part of the
page, its life, receipts without a message."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.records.asks import FeatureAccess
from risala.engine.model.records.carriers import state
from risala.engine.model.records.carriers.state import CarrierDetails, CommandAnswer
from risala.http.operator.blocks import REDRAWN_S_MIN, Runs, blocks_of, log_failure, runs_of
from risala.http.operator.carriers.driver_words import (
    driver_facts,
    driver_line,
    driver_phrase,
)
from risala.http.operator.carriers.listing import PAGE
from risala.http.operator.carriers.tiles import carrier_named, tile
from risala.http.web.face import PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_, Words
from risala.http.web.live import Pieces
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows
from risala.plugins.loading import raised_at
from risala.plugins.page import LivePage, PageForm

if TYPE_CHECKING:
    from risala.engine.features.answering.calls import CarrierCalls


@dataclass(frozen=True, slots=True)
class ModemWay:
    """One way, as the page of a carrier shows it."""

    title: Markup
    lacks: Markup
    is_taken: bool


_WAYS: Final = {
    "modem": (
        N_("Its AT port"),
        N_(
            "No modem without AT commands (QMI, MBIM), and no port that ModemManager or another"
            " program has."
        ),
    ),
    "modemmanager": (
        N_("ModemManager"),
        N_(
            "No USSD, SIM balance, missed calls or SMSC number of your own. A modem that hangs is"
            " left to ModemManager."
        ),
    ),
    "hilink": (
        N_("A HiLink stick’s page"),
        N_(
            "No USSD, SIM balance, missed calls, flash messages, validity or SMSC number of your"
            " own. Texts are not told apart in reports."
        ),
    ),
}
"""By driver: the way, and what it cannot do."""


def ways_to_modem(words: Words, driver: str) -> list[ModemWay]:
    """All ways, if the carrier takes one of them; the taken one comes first."""
    if driver not in _WAYS:
        return []
    order = sorted(_WAYS, key=lambda each: each != driver)
    return [
        ModemWay(words(_WAYS[each][0]), words(_WAYS[each][1]), each == driver) for each in order
    ]


_CALLS: Final[FeatureAccess[CarrierCalls]] = FeatureAccess("answering")
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


def _called_at(request: PageRequest, carrier: str) -> str:
    """The address that a carrier calls, without a secret in it; empty: it does not call."""
    calls = request.site.gateway.access(_CALLS)
    callee = calls.of_carrier(carrier)
    return "" if callee is None else calls.url_of(callee)


async def _values(request: PageRequest, answer: CommandAnswer | None = None) -> dict[str, Any]:
    name = carrier_named(request)
    lane = await request.ask(state.SHOW, carrier=name)
    words = request.words
    return {
        **await request.of_features("carrier", name),
        "filled": await _filled(request, lane),
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
        "ways": ways_to_modem(words, lane.driver),
        "answer": answer and driver_facts(words, lane.driver, answer.answer),
        "asked": answer and answer.command,
        "form": request.form,
    }


@dataclass(frozen=True, slots=True)
class FilledPart:
    """What a driver fills of its carrier's page."""

    runs: Runs = dataclasses.field(default_factory=list)
    """Empty: it fills nothing."""
    beat_s: float | None = None
    """Seconds between two drawings; None: it is drawn once."""
    has_failed: bool = False


async def _filled(request: PageRequest, lane: CarrierDetails) -> FilledPart:
    """The driver's part, with the forms of those commands that the reader may ask."""
    log_name = f"carriers/{lane.name}"
    try:
        page = request.site.gateway.carrier_page(lane.name)
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- its bug, which ends nobody else
        log_failure(log_name, f"{type(error).__name__}, at {raised_at(error)}")
        return FilledPart(has_failed=True)
    if page is None:
        return FilledPart()
    blocks = await blocks_of(request, log_name, page, _called_at(request, lane.name))
    if blocks is None:
        return FilledPart(has_failed=True)
    may_ask = {each.name for each in lane.commands} if request.can(state.ASK) else frozenset()
    shown = [each for each in blocks if not isinstance(each, PageForm) or each.action in may_ask]
    beat_s = page.redrawn_every_s if isinstance(page, LivePage) else None
    return FilledPart(runs_of(shown, {}, {}), beat_s)


async def live(request: PageRequest) -> TrioResponse:
    """What the driver fills, drawn again at its own intervals, except forms."""

    async def filled() -> FilledPart:
        return await _filled(request, await request.ask(state.SHOW, carrier=name))

    name, pieces = carrier_named(request), Pieces()
    beat_s = (await filled()).beat_s  # before the stream: or 404
    if beat_s is None:
        raise NotFound("There is no such page.")

    async def draw(_: object) -> str:
        values = {"runs": (await filled()).runs}
        return pieces.fresh(await request.drawn("plugins/pieces.html", values))

    return request.live(draw, by_time=True, beat_s=max(REDRAWN_S_MIN, beat_s))


async def override(request: PageRequest) -> TrioResponse:
    """Set another pace or weight than the settings have."""
    form, name = request.form, carrier_named(request)
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
    name = carrier_named(request)
    try:
        await request.ask(state.END_OVERRIDE, carrier=name)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return request.go(request.at(f"carriers/{name}"), ENDED)


async def ask(request: PageRequest) -> TrioResponse:
    """Run a command of the driver's own; the answer is on this page only."""
    form = request.form
    arguments = _of_part(form) or form.text("arguments").split()
    try:
        answer = await request.ask(
            state.ASK,
            carrier=carrier_named(request),
            command=form.text("command"),
            arguments=arguments,
        )
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    # The answer may be a secret, such as a new device's token.
    return await request.page(_TEMPLATE, await _values(request, answer), is_secret=True)


def _of_part(form: SentForm) -> list[str]:
    """The arguments of a form of the driver's part, which names a field for each; empty ones at the
    end are left out."""
    values = [form.text(name) for name in form.text("order").split()]
    while values and not values[-1]:
        del values[-1]
    return values


ROUTES: Final = (
    PageRoute(
        path=_ONE, view=shows(_TEMPLATE, _values), access=PageAccess.OPERATOR, needs=state.SHOW
    ),
    PageRoute(path=f"{_ONE}/live", view=live, access=PageAccess.OPERATOR, needs=state.SHOW),
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
