"""All lines of the audit trail that fit the filters, as a file, and how far it is."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.engine.model.records.record import fields_of, to_json
from risala.engine.model.records.upkeep import trail
from risala.engine.model.records.upkeep.trail import AuditLine, LinesPart
from risala.engine.model.times import iso
from risala.http.operator.audit.listing import ROW_FILTERS, asked_for, chips_of, query_of
from risala.http.web.face import PageAccess
from risala.http.web.files.downloads import TablePart
from risala.http.web.files.spreadsheet import FORMS, JSON_LINES, Cell, FileForm, OwnText
from risala.http.web.languages import N_
from risala.http.web.lists import choice
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

COLUMNS: Final = tuple(each.json_name for each in fields_of(AuditLine))
"""The names of the operation: a file is the same in every language."""
JSON: Final = "jsonl"
_ID: Final = re.compile(r"[A-Za-z0-9_-]{16,40}")


async def show(request: PageRequest) -> TrioResponse:
    """The page next to the download. Its address has the id, so that a reload finds it again."""
    query = query_of(request)
    if (download_id := _id_of(request)) is None:
        return request.go(request.at("audit/export", **query, id=secrets.token_urlsafe(16)))
    return await request.page(
        "audit/export.html",
        _progress(request, download_id),
        chips=chips_of(request, query),
        query=query,
        back=request.at("audit", **query),
        live_at=request.at("audit/export/live", id=download_id),
        csv_form="comma" if request.words.language.value == "en" else "semicolon",
    )


async def live(request: PageRequest) -> TrioResponse:
    download_id = _id_of(request) or ""

    async def draw(_: object) -> str:
        return await request.drawn(
            "audit/written.html", {**_progress(request, download_id), "anew": True}
        )

    return request.progress(request.site.downloads.expect(request.user.id, download_id), draw)


async def file(request: PageRequest) -> TrioResponse:
    """The file itself. Its first part is read here: a refusal becomes a page."""
    download_id = _id_of(request) or secrets.token_urlsafe(16)
    request.site.downloads.refuse(request.user.id)
    arguments = asked_for(request, query_of(request))
    first = await request.ask(trail.EXPORT, **arguments)
    form_name = request.form.text("form")
    form: FileForm = JSON_LINES if form_name == JSON else FORMS.get(form_name, FORMS["comma"])
    ending = JSON if form is JSON_LINES else "csv"
    name = f"audit-{request.formats.today.isoformat()}.{ending}"
    return request.download(download_id, name, _parts(request, arguments, first, form), form)


async def _parts(
    request: PageRequest, arguments: Mapping[str, object], first: LinesPart, form: FileForm
) -> AsyncGenerator[TablePart]:
    """Part by part, the newest lines first; of a table the names of its columns before them."""
    row = _json if form is JSON_LINES else _row
    head: Sequence[str] = () if form is JSON_LINES else COLUMNS
    newest = first.lines[0].seq if first.lines else 1
    part = first
    while True:
        lines, older = part.lines, part.older
        share = 1 - lines[-1].seq / newest if lines and older is not None else 1.0
        yield TablePart([row(each) for each in lines], share, head)
        head = ()
        # A reader as fast as we are must not delay the messages of others.
        await trio.lowlevel.checkpoint()
        if older is None:
            return
        more = {**arguments, "before": older, "export": part.export}
        part = await request.ask(trail.EXPORT, **more)


def _row(line: AuditLine) -> list[Cell]:
    packed = {"before": _packed(line.before), "after": _packed(line.after)}
    return [*{**to_json(line), "at": OwnText(iso(line.at)), **packed}.values()]


def _json(line: AuditLine) -> list[Cell]:
    return [json.dumps(to_json(line), ensure_ascii=False)]


def _packed(values: Mapping[str, Any] | None) -> str | None:
    return None if values is None else json.dumps(values, ensure_ascii=False)


def _id_of(request: PageRequest) -> str | None:
    export_id = request.form.text("id")
    return export_id if _ID.fullmatch(export_id) else None


def _progress(request: PageRequest, download_id: str) -> dict[str, object]:
    return {
        "download": request.site.downloads.expect(request.user.id, download_id),
        "download_id": download_id,
        "anew": False,
    }


_EXPORT: Final = "/operator/audit/export"
_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(
        path=_EXPORT,
        view=show,
        access=_OPERATOR,
        needs=trail.EXPORT,
        fresh=True,
        filters=ROW_FILTERS,
    ),
    PageRoute(
        path=f"{_EXPORT}/file",
        view=file,
        access=_OPERATOR,
        needs=trail.EXPORT,
        fresh=True,
        filters=(*ROW_FILTERS, choice("form", N_("File"), (*FORMS, JSON))),
    ),
    PageRoute(path=f"{_EXPORT}/live", view=live, access=_OPERATOR, needs=trail.EXPORT),
)
