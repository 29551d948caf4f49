"""Inbound messages, and the numbers that opted out."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import trio
from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records import inbound
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.inbound import OptOutList, Received, ReceivedMessages
from risala.http.web.face import PageAccess
from risala.http.web.files.downloads import TablePart
from risala.http.web.files.spreadsheet import COMMA, SEMICOLON, Cell, OwnText
from risala.http.web.languages import N_
from risala.http.web.lists import (
    Chip,
    Pager,
    chips,
    cursors,
    number_filter,
    pager_of,
    typed,
)
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
COLUMNS: Final = ("messageId", "receivedAt", "from", "to", "text", "carrier")
"""The names of the API: a file is the same in every language."""
_ROWS_AT_ONCE: Final = 200
"""Rows read at once for a file: the maximum of an answer."""
_OPT_OUTS: Final = "inbound/opt_outs.html"


async def show(request: PageRequest) -> TrioResponse:
    """The inbound messages; on request those of a number, or with some words."""
    form, query = request.form, _query(request)
    arguments = _asked(request, query, "from")
    page = await request.ask_here(inbound.LIST, limit=PAGE, **arguments)
    return await request.page(
        "inbound/list.html",
        q=form.text("q"),
        chips=_chips(request, query, arguments, "from", "inbound"),
        page=page,
        pager=_pager(request, "inbound", query, page),
        messages=page.messages,
        file_at=request.at("inbound/file", **form.filled("q")),
        label_sentence=partial(label_sentence, request.words),
    )


def _query(request: PageRequest) -> dict[str, str]:
    return request.form.filled("mode", "q", "before", "after")


def _asked(request: PageRequest, query: Mapping[str, str], whole: str) -> dict[str, str]:
    """The arguments of an operation that calls a whole number ``whole``."""
    arguments = {name: query[name] for name in ("before", "after") if name in query}
    if text := query.get("q"):
        arguments |= number_filter(request.plan, text, whole=whole)
    return arguments


def _chips(
    request: PageRequest,
    query: Mapping[str, str],
    arguments: Mapping[str, str],
    whole: str,
    page: str,
) -> list[Chip]:
    words, labels = request.words, dict[str, Markup]()
    if number := arguments.get(whole):
        labels["q"] = words("Number {number}", number=request.formats.tel(number))
    elif digits := arguments.get("digits"):
        labels["q"] = words("Number with {digits}", digits=request.code(digits))
    elif part := arguments.get("contains"):
        labels["q"] = words("With “{text}”", text=request.name_of(part))
    return chips(labels, query, request.at, page)


def _pager(
    request: PageRequest, page: str, query: dict[str, str], listed: ReceivedMessages | OptOutList
) -> Pager:
    path = f"/app/{request.organization_id}/{page}"
    return pager_of(path, query, newer=listed.newer, older=listed.older)


async def file(request: PageRequest) -> TrioResponse:
    """What came in, as a file. Its first part is read here: a refusal becomes a page."""
    request.site.downloads.refuse(request.user.id)
    query = {"q": text} if (text := request.form.text("q")) else {}
    arguments = {"limit": _ROWS_AT_ONCE, **_asked(request, query, "from")}
    first = await request.ask_here(inbound.LIST, **arguments)
    day = _local(request, request.formats.now_ms)
    # Spreadsheets in French and in Arabic part cells by semicolons.
    form = COMMA if request.words.language.value == "en" else SEMICOLON
    parts = _parts(request, arguments, first)
    return request.download(secrets.token_urlsafe(16), f"inbound-{day:%Y-%m-%d}.csv", parts, form)


async def _parts(
    request: PageRequest, arguments: Mapping[str, object], first: ReceivedMessages
) -> AsyncGenerator[TablePart]:
    """The names of the columns, then part by part, the newest messages first."""
    head: Sequence[str] = COLUMNS
    part = first
    while True:
        rows = [_row(request, each) for each in part.messages]
        yield TablePart(rows, 1.0 if part.older is None else 0.0, head)
        head = ()
        # A reader as fast as we are must not delay the messages of others.
        await trio.lowlevel.checkpoint()
        if part.older is None:
            return
        part = await request.ask_here(inbound.LIST, **{**arguments, "before": part.older})


def _row(request: PageRequest, message: Received) -> list[Cell]:
    """A message in the order of the columns; its time by the organization's clock."""
    at = _local(request, message.received_at).replace(tzinfo=None)
    return [
        OwnText(message.id),
        OwnText(at.isoformat(" ", "seconds")),
        message.sender,
        message.recipient,
        message.body,
        message.carrier,
    ]


def _local(request: PageRequest, at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(request.formats.zone)


async def show_opt_outs(request: PageRequest) -> TrioResponse:
    return await request.page(_OPT_OUTS, await _list(request))


async def _list(request: PageRequest) -> dict[str, Any]:
    """A page of the list; after a form was refused, its beginning."""
    query = _query(request) if request.http.method == "GET" else {}
    arguments = _asked(request, query, "number")
    listed = await request.ask_here(inbound.OPT_OUTS, limit=PAGE, **arguments)
    return {
        "heeds": listed.heeds,
        "numbers": listed.numbers,
        "q": query.get("q", ""),
        "chips": _chips(request, query, arguments, "number", "inbound/opt-outs"),
        "typed": "" if request.http.method == "GET" else request.form.text("number"),
        "taken": request.form.text("taken"),
        "note": request.form.text("note"),
        "pager": _pager(request, "inbound/opt-outs", query, listed),
    }


async def note(request: PageRequest) -> TrioResponse:
    """Record an opt-out that was requested in another way."""
    return await _done(request, inbound.OPT_OUT, NOTED, number=request.form.text("number"))


async def take_back(request: PageRequest) -> TrioResponse:
    note = request.form.text("note") or None
    return await _done(
        request, inbound.OPT_IN, TAKEN_BACK, number=request.form.text("taken"), note=note
    )


async def set_keywords(request: PageRequest) -> TrioResponse:
    heeds = request.form.text("heed") == "yes"
    return await _done(request, inbound.OPT_OUTS, HEEDED if heeds else IGNORED, heeds=heeds)


async def _done(
    request: PageRequest, ask: Ask[Any], notice: str, **arguments: object
) -> TrioResponse:
    try:
        await request.ask_here(ask, **arguments)
    except Refusal as error:
        return await request.again(_OPT_OUTS, error, await _list(request))
    return request.go(request.at("inbound/opt-outs"), notice)


_PAGE: Final = "/app/<org>/inbound"
_LIST: Final = f"{_PAGE}/opt-outs"
ROUTES: Final = (
    PageRoute(path=_PAGE, view=show, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(
        path=f"{_PAGE}/file", view=file, access=PageAccess.VIEWER, fresh=True, filters=FILTERS[:1]
    ),
    PageRoute(path=_LIST, view=show_opt_outs, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(path=_LIST, view=note, access=PageAccess.DEVELOPER, method="POST"),
    PageRoute(path=f"{_LIST}/back", view=take_back, access=PageAccess.DEVELOPER, method="POST"),
    PageRoute(path=f"{_LIST}/heed", view=set_keywords, access=PageAccess.DEVELOPER, method="POST"),
)
