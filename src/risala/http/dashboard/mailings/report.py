"""What became of each row of a mailing, as a file for spreadsheets: CSV or Excel."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Final

import trio
from quart_trio.wrappers import TrioResponse

from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.records import ReportPart
from risala.engine.features.mailings.rules import report_cells, report_heading
from risala.engine.features.tables.rules.faults import ABROAD
from risala.engine.model.errors import NotFound
from risala.http.dashboard.lists.one import FAULTS
from risala.http.dashboard.mailings.rows import id_of
from risala.http.dashboard.mailings.words import ROW_BADGES
from risala.http.web.face import PageAccess
from risala.http.web.files.downloads import TablePart
from risala.http.web.files.spreadsheet import COMMA, SEMICOLON
from risala.http.web.languages import N_, STATES, country_name
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.sms.numbering.country import COUNTRIES

XLSX: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CHUNK_BYTES: Final = 256 * 1024
"""Bytes of a workbook in memory for each download."""
_ABROAD: Final = N_("This number is of a country that is not open here: {country}.")
HEADINGS: Final[Mapping[str, str]] = {
    "row": N_("Row"),
    "recipient": N_("Number"),
    "result": N_("State"),
    "wrong": N_("Reason"),
    "parts": N_("Parts"),
    "price": N_("Price"),
    "message": N_("Message"),
}
"""As :data:`risala.engine.features.mailings.rules.HEADINGS` has them."""


async def report(request: PageRequest) -> TrioResponse:
    if request.form.text("form") == "xlsx":
        return await _workbook(request)
    request.site.downloads.refuse(request.user.id)
    first = await request.ask(mailings.REPORT, mailing_id=id_of(request))
    # Excel in French and in Arabic takes semicolons for the ends of cells.
    form = COMMA if request.words.language.value == "en" else SEMICOLON
    name = f"report-{id_of(request)}.csv"
    return request.download(secrets.token_urlsafe(16), name, _parts(request, first), form)


async def _parts(request: PageRequest, first: ReportPart) -> AsyncGenerator[TablePart]:
    part, words, columns = first, _words(request), first.columns
    head: list[str] = report_heading(columns, words)
    while True:
        yield TablePart([report_cells(each, columns, words) for each in part.rows], 1.0, head)
        head = []
        # A reader as fast as we are must not delay the messages of others.
        await trio.lowlevel.checkpoint()
        if part.after is None:
            return
        more = {"after": part.after, "export": part.export}
        part = await request.ask(mailings.REPORT, mailing_id=id_of(request), **more)


def _words(request: PageRequest) -> dict[str, str]:
    """The words of a report in the reader's language."""
    words = request.words
    sentences = {**HEADINGS, **{fault.value: sentence for fault, sentence in FAULTS.items()}}
    states = {state.value: word for state, (_, word) in ROW_BADGES.items()}
    return {
        **{code: country_name(words.language, code, code) for code in COUNTRIES.values()},
        **{name: str(words(sentence)) for name, sentence in sentences.items()},
        ABROAD: str(words(_ABROAD)),
        **{name: str(words.among("state of a row", word)) for name, word in states.items()},
        **{name: str(words.among("state", look.word)) for name, look in STATES.items()},
    }


async def _workbook(request: PageRequest) -> TrioResponse:
    """The report as Excel has it, written by a process of its own."""
    made = await request.ask(mailings.WORKBOOK, mailing_id=id_of(request), words=_words(request))
    try:
        file = await trio.open_file(made.path, "rb")
    except OSError:
        raise NotFound("There is no such file any more.") from None
    session = request.session
    assert session is not None, "the route lets nobody else in"
    watch = request.site.gateway.people.sessions.watching(session, request.organization_id)
    response = TrioResponse(_content(file, watch), content_type=XLSX)
    response.timeout = None
    response.headers["content-disposition"] = f'attachment; filename="report-{id_of(request)}.xlsx"'
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
