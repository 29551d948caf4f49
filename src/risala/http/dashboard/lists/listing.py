"""Recipient lists: all of them, and a new one from a file, from pasted lines or empty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.lists.records import ListGrowth
from risala.engine.features.tables.records import FILE_BYTES_MAX, NAME_MAX
from risala.engine.model.errors import Invalid, Refusal
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute, shows

COUNTS: Final = ("added", "changed", "bad", "hidden_rows", "hidden_columns")
"""What the address of a list that has grown counts."""
_TEMPLATE: Final = "lists/all.html"


async def _values(request: PageRequest) -> dict[str, object]:
    listed = await request.ask_here(recipient_lists.LIST)
    return {"lists": listed.lists, "form": request.form, **growth_fields(request)}


async def create(request: PageRequest) -> TrioResponse:
    """Make a list, and show it with what became of the rows."""
    try:
        arguments = {"name": request.form.text("name"), **people_of(request)}
        grown = await request.ask_here(recipient_lists.CREATE, **arguments)
    except Refusal as error:
        return await wrong_people(request, _TEMPLATE, error, await _values(request))
    return request.go(address_of(request, grown))


def growth_fields(request: PageRequest) -> dict[str, object]:
    """What the fields of people to add have to know."""
    words = request.words
    return {
        "name_max": NAME_MAX,
        "file_bytes_max": FILE_BYTES_MAX,
        "upload": "",
        "upload_name": "",
        "labels": {
            "name": words("Name"),
            "file": words("File"),
            "numbers": words("Numbers"),
            "number": words("Number"),
        },
    }


def people_of(request: PageRequest) -> dict[str, object]:
    """The people that a form brings: a file or pasted lines.

    Raises:
        Refusal: the file could not be stored, or there are both.
    """
    form = request.form
    if form.file_refusal is not None:
        raise form.file_refusal
    lines, upload, _ = form.text("numbers"), *_file_of(form)
    if not upload:
        return {"numbers": lines} if lines else {}
    if lines:
        raise Invalid("numbers", "not_one", "A file or lines: only one of them.")
    arguments: dict[str, object] = {"upload": upload, **form.filled("sheet")}
    return {**arguments, "with_hidden": True} if form.text("with_hidden") else arguments


def _file_of(form: SentForm) -> tuple[str, str]:
    """The upload that came with the form, or with the form before it, and its name; or empty."""
    if form.file is not None:
        return form.file.upload_id, form.file.name
    return form.text("upload"), form.text("upload_name")


async def wrong_people(
    request: PageRequest, template: str, error: Refusal, values: Mapping[str, object]
) -> TrioResponse:
    """The page again; what is wrong with pasted lines stands at their field.

    Where only the name is wrong, the file was not read yet, and need not be chosen again.
    """
    form, faults = request.form, faults_of(request.words, error, request.plan)
    upload, name = _file_of(form) if "name" in faults else ("", "")
    if form.text("numbers") and form.file_refusal is None and "file" in faults:
        faults["numbers"] = faults.pop("file")
    return await request.wrong(template, faults, values, upload=upload, upload_name=name)


def address_of(request: PageRequest, grown: ListGrowth) -> str:
    """The page of a list, which says what became of the rows."""
    query = {name: str(count) for name in COUNTS if (count := getattr(grown, name))}
    if grown.bad_rows:
        query["rows"] = ",".join(map(str, grown.bad_rows))
        query["faults"] = ",".join(each.value for each in grown.faults)
        query["countries"] = ",".join(each or "" for each in grown.countries)
    if grown.upload is not None:
        query |= {"upload": grown.upload, "sheet": grown.sheet or ""}
    return request.at(f"lists/{grown.list.id}", **query)


_LISTS: Final = "/app/<org>/lists"
ROUTES: Final = (
    PageRoute(
        path=_LISTS,
        view=shows(_TEMPLATE, _values),
        access=PageAccess.VIEWER,
        entry=NavItem("lists", "lists", N_("Lists"), key="l", after="messages"),
    ),
    PageRoute(
        path=_LISTS,
        view=create,
        access=PageAccess.DEVELOPER,
        method="POST",
        once=True,
        takes_file=True,
    ),
)
