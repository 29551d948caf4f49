"""One recipient list: its people, more of them, its name and its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.lists.records import UNTOLD, ListPeople, RecipientList
from risala.engine.features.tables.records import RowFault
from risala.engine.model.errors import Refusal
from risala.engine.model.records.asks import Versioned
from risala.http.dashboard.lists.listing import (
    COUNTS,
    address_of,
    growth_fields,
    people_of,
    wrong_people,
)
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.lists import Pager, cursors, number_filter, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import not_served
from risala.http.web.routes import PageRoute, shows

RENAMED: Final = N_("The list has its new name.")
REMOVED: Final = N_("The number is no longer on the list.")
DELETED: Final = N_("The list is deleted.")
FILTERS: Final = (
    typed("q", N_("Number or words"), "number", "digits", "contains"),
    *cursors("after"),
)
PAGE: Final = 50
_TEMPLATE: Final = "lists/one.html"
_CELL: Final = "cell_"
"""The beginning of a field for a column's value; its place follows, from 0."""
_COUNTRY_LETTERS: Final = 2
"""ISO 3166-1."""
_COUNT_DIGITS_MAX: Final = 6
"""Digits of a count in the address: a list has at most 100,000 people."""


@dataclass(frozen=True, slots=True)
class GrowthView:
    """What became of rows that were just added."""

    added: int
    changed: int
    bad: int
    rows: tuple[int, ...]
    """The first of the bad ones."""
    faults: tuple[tuple[int, Markup], ...]
    """Which of these have a reason of their own, and the reason."""
    hidden_rows: int
    hidden_columns: int
    """What the sheet hides."""
    upload: str
    """The file, of which that was left out; empty: it is read too."""
    sheet: str

    @property
    def with_hidden(self) -> bool:
        return not self.upload


def id_of(request: PageRequest) -> str:
    """The list that the address names."""
    return request.arguments.get("list_id", "")


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, object]:
    """A page of the list; after a form was refused, its beginning."""
    query = request.form.filled("q", "after") if request.http.method == "GET" else {}
    versioned = await _page(request, query)
    shown, typed = versioned.value, None if error is None else request.form
    stored = {"name": StoredField(request.words("Name"), shown.list.name)}
    return {
        "here": f"lists/{shown.list.id}",
        "list": shown.list,
        "people": shown.people,
        "opted_out": shown.opted_out,
        "growth": _growth(request),
        "q": query.get("q", ""),
        "pager": _pager(request, shown, query),
        "form": request.form,
        "cells": [request.form.text(f"{_CELL}{place}") for place in range(len(shown.list.columns))],
        **growth_fields(request),
        **edit(error, typed, versioned.version or 0, stored),
    }


async def _page(request: PageRequest, query: Mapping[str, str]) -> Versioned[ListPeople]:
    arguments: dict[str, object] = {"list_id": id_of(request), "limit": PAGE}
    if text := query.get("q"):
        arguments |= number_filter(request.plan, text, whole="number")
    if after := query.get("after"):
        arguments["after"] = after
    return await request.ask_to_edit(recipient_lists.SHOW, **arguments)


def _pager(request: PageRequest, people: ListPeople, query: Mapping[str, str]) -> Pager:
    here = f"lists/{people.list.id}"
    kept = {name: text for name, text in query.items() if name != "after"}
    first = request.at(here, **kept) if "after" in query else None
    onward = None if people.after is None else request.at(here, **kept, after=people.after)
    return Pager(first, onward)


def _growth(request: PageRequest) -> GrowthView | None:
    """As the address says it behind a form; None: it says nothing."""
    if request.http.method != "GET":
        return None
    fields = request.form.filled(*COUNTS, "rows", "faults", "countries", "upload", "sheet")
    rows = tuple(filter(None, map(_count, fields.pop("rows", "").split(","))))
    named, countries = (fields.pop(name, "").split(",") for name in ("faults", "countries"))
    faults = _faults(request, rows, named, countries)
    counts = {name: _count(fields.get(name, "")) for name in COUNTS}
    if not any(counts.values()):
        return None
    upload, sheet = fields.get("upload", ""), fields.get("sheet", "")
    return GrowthView(**counts, rows=rows, faults=faults, upload=upload, sheet=sheet)


def _faults(
    request: PageRequest, rows: Sequence[int], named: Sequence[str], countries: Sequence[str]
) -> tuple[tuple[int, Markup], ...]:
    """The rows with a reason of their own, and the sentence that says it."""
    faults = []
    for place, (row, name) in enumerate(zip(rows, named, strict=False)):
        if name in RowFault.__members__.values() and name not in UNTOLD:
            country = countries[place] if place < len(countries) else ""
            abroad = country if _is_country(country) else None
            faults.append((row, fault_sentence(request, RowFault(name), abroad)))
    return tuple(faults)


def _is_country(text: str) -> bool:
    return len(text) == _COUNTRY_LETTERS and text.isascii() and text.isalpha()


def _count(text: str) -> int:
    is_count = text.isascii() and text.isdigit() and len(text) <= _COUNT_DIGITS_MAX
    return int(text) if is_count else 0


# -- people


async def add_person(request: PageRequest) -> TrioResponse:
    """One number with its values."""
    form = request.form
    versioned = await _page(request, {})
    cells = {
        column: form.text(f"{_CELL}{place}")
        for place, column in enumerate(versioned.value.list.columns)
    }
    if column := form.text("new_column"):
        cells[column] = form.text("new_cell")
    arguments: dict[str, object] = {"number": form.text("number"), "cells": cells}
    try:
        grown = await request.ask(recipient_lists.ADD, list_id=id_of(request), **arguments)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return request.go(address_of(request, grown))


async def add_people(request: PageRequest) -> TrioResponse:
    """The people of a file, or of pasted lines."""
    try:
        arguments = people_of(request) or {"numbers": ""}
        grown = await request.ask(recipient_lists.ADD, list_id=id_of(request), **arguments)
    except Refusal as error:
        return await wrong_people(request, _TEMPLATE, error, await _values(request))
    return request.go(address_of(request, grown))


async def _asked_to_remove(request: PageRequest) -> dict[str, object]:
    return {**await _asked(request), "number": request.form.text("number")}


async def remove(request: PageRequest) -> TrioResponse:
    """Take a number from the list."""
    number = request.form.text("number")
    try:
        await request.ask(recipient_lists.REMOVE, list_id=id_of(request), number=number)
    except Refusal as error:
        return await request.again("lists/remove.html", error, await _asked_to_remove(request))
    return request.go(_home(request), REMOVED)


# -- the list


async def rename(request: PageRequest) -> TrioResponse:
    arguments = {"name": request.form.text("name"), **as_seen(request.form)}
    try:
        await request.ask(recipient_lists.SET, list_id=id_of(request), **arguments)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request, error))
    return request.go(_home(request), RENAMED)


async def _asked(request: PageRequest) -> dict[str, object]:
    recipients: RecipientList = (await _page(request, {})).value.list
    return {"list": recipients, "here": f"lists/{recipients.id}"}


async def delete(request: PageRequest) -> TrioResponse:
    await request.ask(recipient_lists.DELETE, list_id=id_of(request))
    return request.go(request.at("lists"), DELETED)


def _home(request: PageRequest) -> str:
    return request.at(f"lists/{id_of(request)}")


_LIST: Final = "/app/<org>/lists/<list_id>"
_DEVELOPER: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(
        path=_LIST, view=shows(_TEMPLATE, _values), access=PageAccess.VIEWER, filters=FILTERS
    ),
    PageRoute(path=f"{_LIST}/person", view=add_person, access=_DEVELOPER, method="POST"),
    PageRoute(
        path=f"{_LIST}/people",
        view=add_people,
        access=_DEVELOPER,
        method="POST",
        once=True,
        takes_file=True,
    ),
    PageRoute(
        path=f"{_LIST}/remove",
        view=shows("lists/remove.html", _asked_to_remove),
        access=_DEVELOPER,
    ),
    PageRoute(path=f"{_LIST}/remove", view=remove, access=_DEVELOPER, method="POST"),
    PageRoute(path=f"{_LIST}/name", view=rename, access=_DEVELOPER, method="POST"),
    PageRoute(path=f"{_LIST}/delete", view=shows("lists/delete.html", _asked), access=_DEVELOPER),
    PageRoute(path=f"{_LIST}/delete", view=delete, access=_DEVELOPER, method="POST"),
)


# What is wrong with a row of a table, as pages say it.

FAULTS: Final[Mapping[RowFault, str]] = {
    RowFault.NUMBER: N_("This is not a phone number."),
    RowFault.NUMBER_MISSING: N_("The number is missing."),
    RowFault.NUMBER_UNSERVED: N_("This is not a number that is served here."),
    RowFault.NUMBER_SHORTENED: N_(
        "A spreadsheet has shortened this number, and its last digits are lost. Format the column "
        "as text, then enter the number again."
    ),
    RowFault.TWO_NUMBERS: N_("These are two numbers. Leave only one of them."),
    RowFault.EXTENSION: N_(
        "This number has an extension, which no message reaches. Leave only the number."
    ),
    RowFault.OTHER_COLUMN: N_(
        "Another column has this person’s number. Copy it here, or choose that column."
    ),
    RowFault.NOT_SERVED: N_("This number is of a country that is not open here."),
    RowFault.COUNTRY: N_("This country is not open to your organization."),
    RowFault.OPTED_OUT: N_("This person does not want your messages any more."),
    RowFault.DOUBLE: N_("An earlier row has the same number."),
    RowFault.CELLS: N_("This row has more cells than the file has columns."),
    RowFault.VALUE_MISSING: N_("The text needs a value here."),
    RowFault.CHARACTERS: N_("This contains a character that phones cannot show."),
    RowFault.TOO_LONG: N_("With these values, the text is too long."),
    RowFault.EMPTY: N_("The text is empty."),
    RowFault.POLICY: N_("A rule of ours does not let this message through."),
    RowFault.SENDER: N_("The sender is not allowed for this message."),
    RowFault.OTHER: N_("The message was refused."),
}


def fault_sentence(request: PageRequest, fault: RowFault, abroad: str | None) -> Markup:
    """What is wrong with a row.

    Args:
        abroad: the ISO 3166-1 letters of the country of its number, if that is not served.
    """
    if abroad is None:
        return request.words(FAULTS[fault])
    return not_served(request.words, request.plan, abroad)
