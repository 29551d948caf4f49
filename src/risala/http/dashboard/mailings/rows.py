"""The rows of a mailing: shown by their state, mended in place, left out, downloaded."""

from __future__ import annotations

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
from risala.http.dashboard.mailings.words import FAULTS, ROW_BADGES, ROW_FILTERS
from risala.http.web.face import PageAccess
from risala.http.web.files.downloads import TablePart
from risala.http.web.files.spreadsheet import COMMA, FORMS, Cell
from risala.http.web.languages import N_
from risala.http.web.lists.filters import choice, counts
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import not_served
from risala.http.web.routes import PageRoute

MENDED: Final = N_("The row is fixed.")
STILL_BAD: Final = N_("The row is stored, but it still needs fixing: see its reason.")
LEFT_OUT: Final = N_("The row is skipped.")
ALL_LEFT_OUT: Final = N_("All rows that need fixing are skipped.")
SHOWN: Final = 25
"""Rows of a page."""
VALUES_SHOWN: Final = 3
"""Values of a row besides its number: enough to know who it is."""
VALUE_SHOWN: Final = 40
"""Characters of such a value."""
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


def id_of(visit: PageRequest) -> str:
    """The mailing of the address."""
    return visit.arguments["mailing_id"]


async def page_of_rows(visit: PageRequest, mailing: Mailing) -> dict[str, object]:
    """A page of its rows, with the filter: bad ones first where there are some."""
    if mailing.state is MailingState.CHECKING or not mailing.keeps_rows:
        return {"rows": None}
    state = _state_of(visit, mailing)
    found = await _read(visit, state, after_of(visit), SHOWN)
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
        "rows": [_shown(visit, found, each) for each in found.rows],
        "row_state": None if state is None else state.value,
        "row_filters": [
            (each.value, visit.words.among("rows of a mailing", told), counts[each])
            for each, told in ROW_FILTERS.items()
            if counts[each] or each is state
        ],
        "rows_after": after_of(visit),
        "rows_next": None
        if found.after is None
        else visit.at(here, **(query or {"state": ALL}), after=str(found.after)),
    }


def _state_of(visit: PageRequest, mailing: Mailing) -> RowState | None:
    """The filter that the address has; None: all rows."""
    wanted = visit.form.text("state")
    if wanted in RowState.__members__.values():
        return RowState(wanted)
    is_draft = mailing.state is MailingState.DRAFT
    return RowState.BAD if not wanted and is_draft and mailing.bad else None


def after_of(visit: PageRequest) -> int:
    """The row after which the page begins."""
    typed = visit.form.text("after")
    return int(typed) if typed.isascii() and typed.isdigit() else 0


async def _read(visit: PageRequest, state: RowState | None, after: int, limit: int) -> MailingRows:
    asked: dict[str, object] = {} if state is None else {"state": state.value}
    if after:
        asked["after"] = after
    return await visit.ask(mailings.ROWS, mailing_id=id_of(visit), limit=limit, **asked)


def _shown(visit: PageRequest, found: MailingRows, row: MailingRow) -> RowShown:
    number_column, cells = found.number_column, row.cells
    typed = cells[number_column] if number_column < len(cells) else ""
    others = [cell for at, cell in enumerate(cells) if at != number_column and cell]
    look, word = ROW_BADGES[row.state]
    place = _place_of(found, row)
    return RowShown(
        row=row.row,
        number=typed if row.number is None else visit.formats.tel(row.number),
        values=" · ".join(_short(each) for each in others[:VALUES_SHOWN]),
        badge=(look, visit.words.among("state of a row", word)),
        reason=reason_of(visit, row),
        place=place,
        column="" if place is None else found.columns[place],
        cell="" if place is None or place >= len(cells) else cells[place],
        message_at=None if row.message_id is None else visit.at(f"messages/{row.message_id}"),
        status=row.status,
    )


def _short(value: str) -> str:
    return value if len(value) <= VALUE_SHOWN else value[: VALUE_SHOWN - 1] + "…"


def fault_sentence(visit: PageRequest, fault: RowFault, abroad: str | None) -> Markup:
    """What is wrong with a row.

    Args:
        abroad: the ISO 3166-1 letters of the country of its number, if that is not served.
    """
    if abroad is None:
        return visit.words(FAULTS[fault])
    return not_served(visit.words, visit.plan, abroad)


def reason_of(visit: PageRequest, row: MailingRow) -> Markup | None:
    """What is wrong with it, in words."""
    if row.fault is None:
        return None
    said = fault_sentence(visit, row.fault, row.country)
    if row.column is None or row.fault in _ABOUT_NUMBERS:
        return said
    column = Markup("<bdi>{}</bdi>").format(row.column)
    return visit.words("{column} – {reason}", column=column, reason=said)


def _place_of(found: MailingRows, row: MailingRow) -> int | None:
    """The column to mend."""
    if row.fault in _ABOUT_NUMBERS or row.fault is RowFault.OTHER_COLUMN:
        return found.number_column if found.number_column < len(found.columns) else None
    return found.columns.index(row.column) if row.column in found.columns else None


async def _one(visit: PageRequest) -> tuple[MailingRows, MailingRow]:
    """The row of the address.

    Raises:
        NotFound: there is none.
    """
    typed = visit.arguments.get("row", "")
    number = int(typed) if typed.isascii() and typed.isdigit() else 0
    found = await _read(visit, None, number - 1, 1) if number else None
    if found is None or not found.rows or found.rows[0].row != number:
        raise NotFound("There is no such row.")
    return found, found.rows[0]


async def show(visit: PageRequest) -> TrioResponse:
    """All cells of one row: for a fault that no single one mends."""
    return await visit.page("mailings/row.html", await _values(visit))


async def _values(visit: PageRequest) -> dict[str, object]:
    found, row = await _one(visit)
    cells = [*row.cells, *("" for _ in range(len(found.columns) - len(row.cells)))]
    return {
        "row": row,
        "reason": reason_of(visit, row),
        "cells": [
            (f"{_PREFIX}{at}", name, visit.form.text(f"{_PREFIX}{at}", cell))
            for at, (name, cell) in enumerate(zip(found.columns, cells, strict=False))
        ],
        "here": f"mailings/{id_of(visit)}",
    }


async def mend(visit: PageRequest) -> TrioResponse:
    found, row = await _one(visit)
    cells = [*row.cells, *("" for _ in range(len(found.columns) - len(row.cells)))]
    typed = [visit.form.text(f"{_PREFIX}{at}", cell) for at, cell in enumerate(cells)]
    mailing_id = id_of(visit)
    try:
        mended = await visit.ask(mailings.MEND, mailing_id=mailing_id, row=row.row, cells=typed)
    except Refusal as error:
        return await visit.again("mailings/row.html", error, await _values(visit))
    return _back(visit, STILL_BAD if mended.state is RowState.BAD else MENDED)


async def leave_out(visit: PageRequest) -> TrioResponse:
    _, row = await _one(visit)
    mailing_id = id_of(visit)
    await visit.ask(mailings.LEAVE_OUT, mailing_id=mailing_id, row=row.row)
    return _back(visit, LEFT_OUT)


async def leave_out_all(visit: PageRequest) -> TrioResponse:
    mailing_id = id_of(visit)
    await visit.ask(mailings.LEAVE_OUT, mailing_id=mailing_id)
    return visit.go(visit.at(f"mailings/{mailing_id}"), ALL_LEFT_OUT)


def _back(visit: PageRequest, said: str) -> TrioResponse:
    """To the place in the list from which the row was changed."""
    query = visit.form.filled("state", "after")
    here = f"mailings/{id_of(visit)}"
    return visit.go(visit.at(here, **query) + "#rows", said)


async def file(visit: PageRequest) -> TrioResponse:
    """The rows that are not right, with the reason of each, as a file."""
    visit.site.downloads.refuse(visit.user.id)
    first = await _read(visit, RowState.BAD, 0, WRITTEN)
    usual = "comma" if visit.words.language.value == "en" else "semicolon"
    form = FORMS.get(visit.form.text("form", usual), COMMA)
    return visit.download(secrets.token_urlsafe(16), "rows.csv", _parts(visit, first), form)


async def _parts(visit: PageRequest, first: MailingRows) -> AsyncGenerator[TablePart]:
    part, words = first, visit.words
    head: list[str] = [str(words("Row")), *first.columns, str(words("Reason"))]
    while True:
        rows: list[list[Cell]] = [
            [
                each.row,
                *each.cells,
                reason.striptags() if (reason := reason_of(visit, each)) else "",
            ]
            for each in part.rows
        ]
        yield TablePart(rows, 1.0, head)
        head = []
        await trio.lowlevel.checkpoint()
        if part.after is None:
            return
        part = await _read(visit, RowState.BAD, part.after, WRITTEN)


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
