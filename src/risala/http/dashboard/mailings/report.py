"""What became of each row of a mailing, as a file for spreadsheets: CSV or Excel."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import Any, Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import NotFound
from risala.engine.model.money import money
from risala.engine.model.records import mailings
from risala.engine.model.records.mailings import MailingRow, ReportPart
from risala.http.dashboard.mailings.rows import id_of, reason_of
from risala.http.dashboard.mailings.words import ROW_BADGES
from risala.http.web.access import PageAccess
from risala.http.web.files.downloads import TablePart
from risala.http.web.files.spreadsheet import COMMA, SEMICOLON, Cell, OwnText
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.http.web.states import STATES

XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CHUNK_BYTES: Final = 256 * 1024
"""Bytes of a workbook in memory for each download."""
HEADS: Final = (
    *(N_("Row"), N_("Number"), N_("State"), N_("Reason"), N_("Parts"), N_("Price")),
    N_("Message"),
)
"""The columns of a report, before those of the file."""


async def report(visit: PageRequest) -> TrioResponse:
    if visit.form.text("form") == "xlsx":
        return await _workbook(visit)
    visit.site.downloads.refuse(visit.user.id)
    first = await visit.ask(mailings.REPORT, mailing_id=id_of(visit))
    # Excel in French and in Arabic takes semicolons for the ends of cells.
    form = COMMA if visit.words.language.value == "en" else SEMICOLON
    name = f"report-{id_of(visit)}.csv"
    return visit.download(secrets.token_urlsafe(16), name, _parts(visit, first), form)


async def _parts(visit: PageRequest, first: ReportPart) -> AsyncGenerator[TablePart]:
    part = first
    head: list[str] = [*(str(visit.words(each)) for each in HEADS), *first.columns]
    while True:
        yield TablePart([_row(visit, each) for each in part.rows], 1.0, head)
        head = []
        # A reader as fast as we are must not delay the messages of others.
        await trio.lowlevel.checkpoint()
        if part.after is None:
            return
        more = {"after": part.after, "export": part.export}
        part = await visit.ask(mailings.REPORT, mailing_id=id_of(visit), **more)


def _row(visit: PageRequest, row: MailingRow) -> list[Cell]:
    words, reason = visit.words, reason_of(visit, row)
    if row.status in STATES:
        state = words.among("state", STATES[row.status].word)
    else:
        state = words.among("state of a row", ROW_BADGES[row.state][1])
    return [
        row.row,
        row.number or "",
        str(state),
        "" if reason is None else reason.striptags(),
        row.segments,
        Decimal(money(row.price)),
        OwnText(row.message_id or ""),
        *row.cells,
    ]


async def _workbook(visit: PageRequest) -> TrioResponse:
    """The report as Excel has it, written by a process of its own."""
    words = {
        **{each: str(visit.words(each)) for each in HEADS},
        **{look.word: str(visit.words.among("state", look.word)) for look in STATES.values()},
        **{word: str(visit.words.among("state of a row", word)) for _, word in ROW_BADGES.values()},
    }
    made = await visit.ask(mailings.WORKBOOK, mailing_id=id_of(visit), words=words)
    try:
        file = await trio.open_file(made.path, "rb")
    except OSError:
        raise NotFound("There is no such file any more.") from None
    session = visit.session
    assert session is not None, "the route lets nobody else in"
    watch = visit.site.gateway.people.watching(session, visit.organization_id)
    response = TrioResponse(_content(file, watch), content_type=XLSX)
    response.timeout = None
    response.headers["content-disposition"] = f'attachment; filename="report-{id_of(visit)}.xlsx"'
    return response


async def _content(file: Any, watch: AbstractContextManager[trio.Event]) -> AsyncGenerator[bytes]:  # noqa: ANN401 -- Trio's own
    """The file, part by part, until its reader may see no more."""
    with watch as ended:
        async with file:
            while not ended.is_set() and (chunk := await file.read(CHUNK_BYTES)):
                yield chunk


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/mailings/<mailing_id>/report", view=report, access=PageAccess.VIEWER
    ),
)
