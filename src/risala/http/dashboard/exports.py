"""A file with all data of the organization: requested, watched while it is written, downloaded."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager
from typing import Any, Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.engine.features.own_data import records
from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.times import iso
from risala.http.dashboard import account_data
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, refusal_sentence
from risala.http.web.routes import PageRoute, shows

DELETED: Final = N_("The file is deleted.")
CHUNK_BYTES: Final = 256 * 1024
"""Bytes of the file in memory for each download."""
FAULTS: Final = {
    "no room": N_("There is not enough room on our disk. Ask us, or try again later."),
    "too large": N_("It would be too large. Ask us: we can give it to you in another way."),
    "broken": N_("Something failed on our side while it was written. Ask for it again."),
}


async def ask(request: PageRequest) -> TrioResponse:
    try:
        export = await request.ask_here(records.EXPORT_REQUEST)
    except Refusal as error:
        return await account_data.refused(request, {TOP: refusal_sentence(request.words, error)})
    return request.go(request.at(f"settings/exports/{export.id}"))


async def piece(request: PageRequest) -> TrioResponse:
    """The progress, for a page that stays open."""
    return await request.piece("exports/progress.html", **await _values(request))


async def fetch(request: PageRequest) -> TrioResponse:
    """The file itself, as long as its reader may read it."""
    fetched = await request.ask(records.EXPORT_FETCH, export_id=request.arguments["export_id"])
    try:
        file = await trio.open_file(fetched.path, "rb")
    except OSError:
        raise NotFound("There is no such file any more.") from None
    session = request.session
    assert session is not None, "the route lets nobody else in"
    watch = request.site.gateway.people.sessions.watching(session, request.organization_id)
    response = TrioResponse(_content(file, watch), content_type="application/zip")
    response.timeout = None
    day = iso(fetched.export.created_at)[:10]
    response.headers["content-disposition"] = f'attachment; filename="risala-{day}.zip"'
    response.headers["content-length"] = str(fetched.export.bytes)
    return response


async def _content(file: Any, watch: AbstractContextManager[trio.Event]) -> AsyncGenerator[bytes]:  # noqa: ANN401 -- Trio's own
    """The file, part by part. Cut off if its reader signs out or is removed meanwhile: a browser
    detects that by the length."""
    with watch as ended:
        async with file:
            while not ended.is_set() and (chunk := await file.read(CHUNK_BYTES)):
                yield chunk


async def delete(request: PageRequest) -> TrioResponse:
    await request.ask(records.EXPORT_DELETE, export_id=request.arguments["export_id"])
    return request.go(request.at("settings/kept"), DELETED)


async def _values(request: PageRequest) -> dict[str, Any]:
    export = await request.ask(records.EXPORT_SHOW, export_id=request.arguments["export_id"])
    fault = FAULTS.get(export.reason or "")
    return {"export": export, "fault": None if fault is None else request.words(fault)}


_OWNER: Final = PageAccess.OWNER
_AT: Final = "/app/<org>/settings/exports"
_ONE: Final = f"{_AT}/<export_id>"
ROUTES: Final = (
    PageRoute(path=_AT, view=ask, access=_OWNER, method="POST", once=True),
    PageRoute(path=_ONE, view=shows("exports/show.html", _values), access=_OWNER),
    PageRoute(path=f"{_ONE}/piece", view=piece, access=_OWNER),
    PageRoute(path=f"{_ONE}/file", view=fetch, access=_OWNER),
    PageRoute(path=f"{_ONE}/delete", view=delete, access=_OWNER, method="POST"),
)
