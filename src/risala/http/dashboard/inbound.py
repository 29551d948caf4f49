"""Inbound messages, and the numbers that opted out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records import inbound
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.inbound import OptOutList, ReceivedMessages
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.lists.filters import cursors, number_filter, typed
from risala.http.web.lists.pager import Chip, Pager, chips, pager_of
from risala.http.web.messages.sentences import label_sentence
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

NOTED: Final = N_("Noted: this number gets no messages as long as opt-outs are respected.")
TAKEN_BACK: Final = N_("The number may be written to again.")
HEEDED: Final = N_("STOP ends your messages from now on.")
IGNORED: Final = N_("STOP no longer has any effect.")
FILTERS: Final = (
    typed("q", N_("Number or words"), "from", "number", "digits", "contains"),
    *cursors(),
)
PAGE: Final = 50
_OPT_OUTS: Final = "inbound/opt_outs.html"


async def show(visit: PageRequest) -> TrioResponse:
    """The inbound messages; on request those of a number, or with some words."""
    form, query = visit.form, _query(visit)
    asked = _asked(visit, query, "from")
    page = await visit.ask_here(inbound.LIST, limit=PAGE, **asked)
    return await visit.page(
        "inbound/list.html",
        q=form.text("q"),
        chips=_chips(visit, query, asked, "from", "inbound"),
        page=page,
        pager=_pager(visit, "inbound", query, page),
        messages=page.messages,
        label_sentence=partial(label_sentence, visit.words),
    )


def _query(visit: PageRequest) -> dict[str, str]:
    return visit.form.filled("mode", "q", "before", "after")


def _asked(visit: PageRequest, query: Mapping[str, str], whole: str) -> dict[str, str]:
    """The arguments of an operation that calls a whole number ``whole``."""
    asked = {name: query[name] for name in ("before", "after") if name in query}
    if text := query.get("q"):
        asked |= number_filter(visit.plan, text, whole=whole)
    return asked


def _chips(
    visit: PageRequest, query: Mapping[str, str], asked: Mapping[str, str], whole: str, page: str
) -> list[Chip]:
    words, labels = visit.words, dict[str, Markup]()
    if number := asked.get(whole):
        labels["q"] = words("Number {number}", number=visit.formats.tel(number))
    elif digits := asked.get("digits"):
        labels["q"] = words("Number with {digits}", digits=visit.code(digits))
    elif part := asked.get("contains"):
        labels["q"] = words("With “{text}”", text=visit.name_of(part))
    return chips(labels, query, visit.at, page)


def _pager(
    visit: PageRequest, page: str, query: dict[str, str], found: ReceivedMessages | OptOutList
) -> Pager:
    path = f"/app/{visit.organization_id}/{page}"
    return pager_of(path, query, newer=found.newer, older=found.older)


async def show_opt_outs(visit: PageRequest) -> TrioResponse:
    return await visit.page(_OPT_OUTS, await _list(visit))


async def _list(visit: PageRequest) -> dict[str, Any]:
    """A page of the list; after a form was refused, its beginning."""
    query = _query(visit) if visit.http.method == "GET" else {}
    asked = _asked(visit, query, "number")
    found = await visit.ask_here(inbound.OPT_OUTS, limit=PAGE, **asked)
    return {
        "heeds": found.heeds,
        "numbers": found.numbers,
        "q": query.get("q", ""),
        "chips": _chips(visit, query, asked, "number", "inbound/opt-outs"),
        "typed": "" if visit.http.method == "GET" else visit.form.text("number"),
        "pager": _pager(visit, "inbound/opt-outs", query, found),
    }


async def note(visit: PageRequest) -> TrioResponse:
    """Record an opt-out that was requested in another way."""
    return await _done(visit, inbound.OPT_OUT, NOTED, number=visit.form.text("number"))


async def take_back(visit: PageRequest) -> TrioResponse:
    return await _done(visit, inbound.OPT_IN, TAKEN_BACK, number=visit.form.text("taken"))


async def set_keywords(visit: PageRequest) -> TrioResponse:
    heeds = visit.form.text("heed") == "yes"
    return await _done(visit, inbound.OPT_OUTS, HEEDED if heeds else IGNORED, heeds=heeds)


async def _done(visit: PageRequest, ask: Ask[Any], said: str, **asked: object) -> TrioResponse:
    try:
        await visit.ask_here(ask, **asked)
    except Refusal as error:
        return await visit.again(_OPT_OUTS, error, await _list(visit))
    return visit.go(visit.at("inbound/opt-outs"), said)


_PAGE: Final = "/app/<org>/inbound"
_LIST: Final = f"{_PAGE}/opt-outs"
ROUTES: Final = (
    PageRoute(path=_PAGE, view=show, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(path=_LIST, view=show_opt_outs, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(path=_LIST, view=note, access=PageAccess.DEVELOPER, method="POST"),
    PageRoute(path=f"{_LIST}/back", view=take_back, access=PageAccess.DEVELOPER, method="POST"),
    PageRoute(path=f"{_LIST}/heed", view=set_keywords, access=PageAccess.DEVELOPER, method="POST"),
)
