"""All messages that fit the filters, as a file for a spreadsheet, and how far it is."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.engine.model.money import money
from risala.engine.model.records import keys, message_lists
from risala.engine.model.records.message_lists import ExportedMessage, ExportPart
from risala.http.dashboard.messages.listing import FILTERS, ROW_FILTERS, asked_for, chips_of
from risala.http.web.face import PageAccess
from risala.http.web.files.downloads import TablePart
from risala.http.web.files.spreadsheet import COMMA, FORMS, Cell, OwnText
from risala.http.web.formats import ms_of
from risala.http.web.languages import N_
from risala.http.web.lists import choice
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

COLUMNS: Final = (
    *("messageId", "createdAt", "sentAt", "deliveredAt", "to", "from", "status", "segments"),
    *("encoding", "price", "currency", "carrier", "errorCode", "carrierCode", "keyId", "kind"),
    *("body", "metadata", "messageClass"),
)
"""The names of the API, in every language."""
_TO_SECONDS: Final = len("2026-11-21 08:41:16")
_ID: Final = re.compile(r"[A-Za-z0-9_-]{16,40}")


async def show(request: PageRequest) -> TrioResponse:
    """The page next to the download. Its address has the id, so that a reload finds it again."""
    query = _query(request)
    if (download_id := _id_of(request)) is None:
        return request.go(request.at("messages/export", **query, id=secrets.token_urlsafe(16)))
    listed = await request.ask_here(keys.LIST)
    filters = asked_for(request, query)
    names = {each.id: each.name or "" for each in listed.keys}
    return await request.page(
        "messages/export.html",
        _progress(request, download_id),
        chips=chips_of(request, query, filters, names),
        query=query,
        back=request.at("messages", **query),
        live_at=request.at("messages/export/live", id=download_id),
        csv_form="comma" if request.words.language.value == "en" else "semicolon",
        zone=request.formats.city,
    )


async def live(request: PageRequest) -> TrioResponse:
    download_id = _id_of(request) or ""

    async def draw(_: object) -> str:
        return await request.drawn("messages/export_piece.html", _progress(request, download_id))

    return request.progress(request.site.downloads.expect(request.user.id, download_id), draw)


async def file(request: PageRequest) -> TrioResponse:
    """The file itself. Its first part is read here: a refusal becomes a page."""
    download_id = _id_of(request) or secrets.token_urlsafe(16)
    request.site.downloads.refuse(request.user.id)
    arguments = {**asked_for(request, _query(request)), "mode": request.mode.value}
    first = await request.ask_here(message_lists.EXPORT, **arguments)
    day = datetime.fromtimestamp(request.formats.now_ms / 1000, UTC).astimezone(
        request.formats.zone
    )
    return request.download(
        download_id,
        f"messages-{day:%Y-%m-%d}.csv",
        _parts(request, arguments, first),
        FORMS.get(request.form.text("form"), COMMA),
    )


async def _parts(
    request: PageRequest, arguments: Mapping[str, object], first: ExportPart
) -> AsyncGenerator[TablePart]:
    """The names of the columns, then part by part, the newest messages first."""
    oldest_ms = (
        ms_of(str(arguments["since"]))
        if arguments.get("since")
        else request.organization.created_at
    )
    newest_ms = request.formats.now_ms
    head: Sequence[str] = COLUMNS
    part = first
    while True:
        messages = part.messages
        at_ms = messages[-1].created_at if messages else newest_ms
        share = (newest_ms - at_ms) / max(1, newest_ms - oldest_ms)
        yield TablePart([_row(request, each) for each in messages], min(share, 1.0), head)
        head = ()
        # A reader as fast as we are must not delay the messages of others.
        await trio.lowlevel.checkpoint()
        if part.older is None:
            return
        more = {**arguments, "before": str(part.older), "export": str(part.export)}
        part = await request.ask_here(message_lists.EXPORT, **more)


def _row(request: PageRequest, message: ExportedMessage) -> list[Cell]:
    """A message in the order of the columns; times by the organization's clock."""
    return [
        OwnText(message.id),
        *(_time(request, at) for at in (message.created_at, message.sent_at, message.delivered_at)),
        message.to,
        message.sender,
        OwnText("uncertain" if message.uncertain else message.status),
        message.segments,
        OwnText(message.encoding),
        Decimal(money(message.price)),
        OwnText(message.currency),
        message.carrier,
        message.error_code,
        message.carrier_code,
        message.api_key,
        OwnText(message.kind),
        message.body,
        json.dumps(message.metadata, ensure_ascii=False) if message.metadata else None,
        message.message_class,
    ]


def _time(request: PageRequest, at_ms: int | None) -> OwnText | None:
    """A time in the format of spreadsheets."""
    if at_ms is None:
        return None
    local = datetime.fromtimestamp(at_ms / 1000, request.formats.zone)
    return OwnText(local.isoformat(" ", "seconds")[:_TO_SECONDS])


def _query(request: PageRequest) -> dict[str, str]:
    return request.form.filled(*FILTERS)


def _id_of(request: PageRequest) -> str | None:
    export_id = request.form.text("id")
    return export_id if _ID.fullmatch(export_id) else None


def _progress(request: PageRequest, download_id: str) -> dict[str, object]:
    return {
        "download": request.site.downloads.expect(request.user.id, download_id),
        "download_id": download_id,
    }


FILE_FILTERS: Final = (*ROW_FILTERS, choice("form", N_("File"), FORMS))
_EXPORT: Final = "/app/<org>/messages/export"
ROUTES: Final = (
    PageRoute(path=_EXPORT, view=show, access=PageAccess.VIEWER, fresh=True, filters=ROW_FILTERS),
    PageRoute(
        path=f"{_EXPORT}/file",
        view=file,
        access=PageAccess.VIEWER,
        fresh=True,
        filters=FILE_FILTERS,
    ),
    PageRoute(path=f"{_EXPORT}/live", view=live, access=PageAccess.VIEWER),
)
