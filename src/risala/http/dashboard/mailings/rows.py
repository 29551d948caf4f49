"""The rows of a mailing: shown by their state, mended in place, left out, downloaded."""

from __future__ import annotations

import re
import secrets
from collections.abc import AsyncGenerator
from typing import Final

import trio
from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.records import (
    Mailing,
    MailingRow,
    MailingRows,
    MailingState,
    RowState,
)
from risala.engine.features.tables.records import RowFault
from risala.engine.model.errors import NotFound, Refusal
from risala.http.dashboard.lists.one import fault_sentence
from risala.http.dashboard.mailings.words import ROW_BADGES, ROW_FILTERS
from risala.http.web.face import PageAccess
from risala.http.web.files.downloads import TablePart
from risala.http.web.files.spreadsheet import COMMA, FORMS, Cell
from risala.http.web.languages import N_
from risala.http.web.lists import choice, counts
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

MENDED: Final = N_("The row is fixed.")
STILL_BAD: Final = N_("The row is stored, but it still needs fixing: see its reason.")
LEFT_OUT: Final = N_("The row is skipped.")
ALL_LEFT_OUT: Final = N_("All rows that need fixing are skipped.")
SHOWN: Final = 25
"""Rows of a page."""
SHOWN_FIRST: Final = 5
"""Rows that need somebody above a draft's text: the others are a click away."""
VALUES_SHOWN: Final = 3
"""Values of a row besides its number: enough to know who it is."""
VALUE_SHOWN: Final = 40
"""Characters of such a value."""
_SHORT_DIGITS: Final = 5
"""What is left of a number without its country's code has more digits than this."""
WRITTEN: Final = 100
"""Rows of a part of a file."""
_PREFIX: Final = "cell"
"""The name of a cell's field, before the place of its column."""
_ABOUT_NUMBERS: Final = frozenset(
    {
        *(RowFault.NUMBER, RowFault.NUMBER_MISSING, RowFault.NUMBER_UNSERVED),
        *(RowFault.NUMBER_SHORTENED, RowFault.TWO_NUMBERS, RowFault.EXTENSION),
        *(RowFault.NOT_SERVED, RowFault.COUNTRY, RowFault.OPTED_OUT, RowFault.DOUBLE),
    }
)


ALL: Final = "all"
"""The filter for rows of any state."""
ROW_PLACE: Final = (choice("state", N_("State"), (*RowState, ALL)), *counts("after"))
"""The filters of a mailing's rows."""


@dataclass(frozen=True, slots=True)
class RowShown:
    """A row as its reader sees it."""

    row: int
    number: Markup | str
    values: str
    badge: tuple[str, Markup]
    reason: Markup | None
    place: int | None
    """The column that mends it; None: no single one does."""
    column: str
    cell: str
    """What that column has."""
    message_at: str | None
    status: str | None


def id_of(request: PageRequest) -> str:
    """The mailing of the address."""
    return request.arguments["mailing_id"]


async def page_of_rows(request: PageRequest, mailing: Mailing) -> dict[str, object]:
    """A page of its rows, with the filter: bad ones first where there are some."""
    if mailing.state is MailingState.CHECKING or not mailing.keeps_rows:
        return {"rows": None}
    state = _state_of(request, mailing)
    is_first = state is RowState.BAD and not request.form.text("state") and not after_of(request)
    page = await _read(request, state, after_of(request), SHOWN_FIRST if is_first else SHOWN)
    query = {} if state is None else {"state": state.value}
    here = f"mailings/{mailing.id}"
    counts = {
        RowState.READY: mailing.ready,
        RowState.BAD: mailing.bad,
        RowState.LEFT_OUT: mailing.left_out,
        RowState.ACCEPTED: mailing.accepted,
        RowState.REFUSED: mailing.refused,
    }
    return {
        "rows": [_shown(request, page, each) for each in page.rows],
        "row_state": None if state is None else state.value,
        "row_filters": [
            (each.value, request.words.among("rows of a mailing", label), counts[each])
            for each, label in ROW_FILTERS.items()
            if counts[each] or each is state
        ],
        "rows_after": after_of(request),
        "rows_all": request.at(here, **query) if is_first and page.after is not None else None,
        "rows_next": None
        if page.after is None or is_first
        else request.at(here, **(query or {"state": ALL}), after=str(page.after)),
    }


def _state_of(request: PageRequest, mailing: Mailing) -> RowState | None:
    """The filter that the address has; None: all rows."""
    name = request.form.text("state")
    if name in RowState.__members__.values():
        return RowState(name)
    is_draft = mailing.state is MailingState.DRAFT
    return RowState.BAD if not name and is_draft and mailing.bad else None


def after_of(request: PageRequest) -> int:
    """The row after which the page begins."""
    typed = request.form.text("after")
    return int(typed) if typed.isascii() and typed.isdigit() else 0


async def _read(
    request: PageRequest, state: RowState | None, after: int, limit: int
) -> MailingRows:
    arguments: dict[str, object] = {} if state is None else {"state": state.value}
    if after:
        arguments["after"] = after
    return await request.ask(mailings.ROWS, mailing_id=id_of(request), limit=limit, **arguments)


def _shown(request: PageRequest, page: MailingRows, row: MailingRow) -> RowShown:
    number_column, cells = page.number_column, row.cells
    typed = cells[number_column] if number_column < len(cells) else ""
    others = [cell for at, cell in enumerate(cells) if at != number_column and cell]
    look, word = ROW_BADGES[row.state]
    place = _place_of(page, row)
    return RowShown(
        row=row.row,
        number=typed if row.number is None else request.formats.tel(row.number),
        values=" · ".join(_short(each) for each in others[:VALUES_SHOWN]),
        badge=(look, request.words.among("state of a row", word)),
        reason=reason_of(request, row, typed),
        place=place,
        column="" if place is None else page.columns[place],
        cell="" if place is None or place >= len(cells) else cells[place],
        message_at=None if row.message_id is None else request.at(f"messages/{row.message_id}"),
        status=row.status,
    )


def _short(value: str) -> str:
    return value if len(value) <= VALUE_SHOWN else value[: VALUE_SHOWN - 1] + "…"


def _begin_of(request: PageRequest, typed: str) -> Markup | None:
    """The first digit of a number of the home country, as it was typed; None: it has no digits."""
    digits = re.sub(r"\D", "", typed)
    home = request.plan.home.calling_code
    for code in (f"00{home}", home):
        if len(digits) > len(code) + _SHORT_DIGITS:
            digits = digits.removeprefix(code)
    return request.name_of(digits[0]) if digits else None


def reason_of(request: PageRequest, row: MailingRow, typed: str = "") -> Markup | None:
    """What is wrong with it, in words.

    Args:
        typed: what the column of the numbers has.
    """
    if row.fault is None:
        return None
    if row.fault is RowFault.DOUBLE and row.same_as is not None:
        first = request.formats.num(row.same_as)
        return request.words("The same number as in row {n}, which gets the message.", n=first)
    if row.fault is RowFault.NUMBER_UNSERVED and (begin := _begin_of(request, typed)):
        return request.words("Numbers that begin with {digits} are not served here.", digits=begin)
    sentence = fault_sentence(request, row.fault, row.country)
    if row.column is None or row.fault in _ABOUT_NUMBERS:
        return sentence
    column = Markup("<bdi>{}</bdi>").format(row.column)
    return request.words("{column} – {reason}", column=column, reason=sentence)


def _place_of(page: MailingRows, row: MailingRow) -> int | None:
    """The column to mend."""
    if row.fault in _ABOUT_NUMBERS or row.fault is RowFault.OTHER_COLUMN:
        return page.number_column if page.number_column < len(page.columns) else None
    return page.columns.index(row.column) if row.column in page.columns else None


async def _one(request: PageRequest) -> tuple[MailingRows, MailingRow]:
    """The row of the address.

    Raises:
        NotFound: there is none.
    """
    typed = request.arguments.get("row", "")
    number = int(typed) if typed.isascii() and typed.isdigit() else 0
    page = await _read(request, None, number - 1, 1) if number else None
    if page is None or not page.rows or page.rows[0].row != number:
        raise NotFound("There is no such row.")
    return page, page.rows[0]


async def show(request: PageRequest) -> TrioResponse:
    """All cells of one row: for a fault that no single one mends."""
    return await request.page("mailings/row.html", await _values(request))


async def _values(request: PageRequest) -> dict[str, object]:
    page, row = await _one(request)
    cells = [*row.cells, *("" for _ in range(len(page.columns) - len(row.cells)))]
    return {
        "row": row,
        "reason": reason_of(request, row),
        "cells": [
            (f"{_PREFIX}{at}", name, request.form.text(f"{_PREFIX}{at}", cell))
            for at, (name, cell) in enumerate(zip(page.columns, cells, strict=False))
        ],
        "here": f"mailings/{id_of(request)}",
    }


async def mend(request: PageRequest) -> TrioResponse:
    page, row = await _one(request)
    cells = [*row.cells, *("" for _ in range(len(page.columns) - len(row.cells)))]
    typed = [request.form.text(f"{_PREFIX}{at}", cell) for at, cell in enumerate(cells)]
    mailing_id = id_of(request)
    try:
        mended = await request.ask(mailings.MEND, mailing_id=mailing_id, row=row.row, cells=typed)
    except Refusal as error:
        return await request.again("mailings/row.html", error, await _values(request))
    return _back(request, STILL_BAD if mended.state is RowState.BAD else MENDED)


async def leave_out(request: PageRequest) -> TrioResponse:
    _, row = await _one(request)
    mailing_id = id_of(request)
    await request.ask(mailings.LEAVE_OUT, mailing_id=mailing_id, row=row.row)
    return _back(request, LEFT_OUT)


async def leave_out_all(request: PageRequest) -> TrioResponse:
    mailing_id = id_of(request)
    await request.ask(mailings.LEAVE_OUT, mailing_id=mailing_id)
    return request.go(request.at(f"mailings/{mailing_id}"), ALL_LEFT_OUT)


def _back(request: PageRequest, notice: str) -> TrioResponse:
    """To the place in the list from which the row was changed."""
    query = request.form.filled("state", "after")
    here = f"mailings/{id_of(request)}"
    return request.go(request.at(here, **query) + "#rows", notice)


async def file(request: PageRequest) -> TrioResponse:
    """The rows that are not right, with the reason of each, as a file."""
    request.site.downloads.refuse(request.user.id)
    first = await _read(request, RowState.BAD, 0, WRITTEN)
    usual = "comma" if request.words.language.value == "en" else "semicolon"
    form = FORMS.get(request.form.text("form", usual), COMMA)
    return request.download(secrets.token_urlsafe(16), "rows.csv", _parts(request, first), form)


async def _parts(request: PageRequest, first: MailingRows) -> AsyncGenerator[TablePart]:
    part, words = first, request.words
    head: list[str] = [str(words("Row")), *first.columns, str(words("Reason"))]
    while True:
        rows: list[list[Cell]] = [
            [
                each.row,
                *each.cells,
                reason.striptags() if (reason := reason_of(request, each)) else "",
            ]
            for each in part.rows
        ]
        yield TablePart(rows, 1.0, head)
        head = []
        await trio.lowlevel.checkpoint()
        if part.after is None:
            return
        part = await _read(request, RowState.BAD, part.after, WRITTEN)


_AT: Final = "/app/<org>/mailings/<mailing_id>/rows"
_ROW: Final = f"{_AT}/<row>"
_DEVELOPER: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(
        path=f"{_AT}/file",
        view=file,
        access=PageAccess.VIEWER,
        filters=(choice("form", N_("File"), FORMS),),
    ),
    PageRoute(path=f"{_AT}/leave-out", view=leave_out_all, access=_DEVELOPER, method="POST"),
    PageRoute(path=_ROW, view=show, access=_DEVELOPER, filters=ROW_PLACE),
    PageRoute(path=_ROW, view=mend, access=_DEVELOPER, method="POST"),
    PageRoute(path=f"{_ROW}/leave-out", view=leave_out, access=_DEVELOPER, method="POST"),
)
