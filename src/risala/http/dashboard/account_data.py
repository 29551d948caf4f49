"""Data of an organization: what is kept, for how long, and what its owner has erased."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.own_data import records
from risala.engine.features.own_data.records import (
    ErasureProgress,
    ExportState,
    NumberFigures,
    RetentionOfKind,
)
from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.records.people.organizations import limited_bytes
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("Saved. Older data is erased within the hour.")
_PAGE: Final = "account_data/show.html"
_FORGET: Final = "account_data/forget.html"
_SHOWN_DIGITS: Final = 4
"""The last digits of a number, or characters of an address: the reader types them before it is
erased, to confirm it."""
_STANDING: Final = (ExportState.WRITING, ExportState.READY)
_KINDS: Final = {
    "texts": N_("Texts of messages"),
    "events": N_("Events and their deliveries"),
    "inbound": N_("Inbound messages"),
}
_STORED: Final = {
    "mailings": N_("Mailings and drafts"),
    "lists": N_("Lists of people"),
    "uploads": N_("Uploaded files that wait"),
    "exports": N_("Exports of your data"),
}
"""What takes how much."""
_MB: Final = 1_000_000


async def save(request: PageRequest) -> TrioResponse:
    form = request.form
    typed = {f"{name}_days": form.text(f"{name}_days") for name in _KINDS}
    days = {name: int(text) for name, text in typed.items() if _is_whole(text)}
    try:
        await request.ask_here(records.KEPT_SET, **days, **as_seen(form))
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("settings/kept"), SAVED)


async def refused(request: PageRequest, faults: Mapping[str, Markup]) -> TrioResponse:
    """The page of kept data, for a refused form on it."""
    return await request.wrong(_PAGE, faults, await _values(request))


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    """The values of the page; with those of a refused form."""
    here = {"organization_id": request.organization_id}
    kept, version = await request.ask_to_edit(records.KEPT_SHOW, **here)
    erasures = await request.ask_here(records.ERASURE_LIST)
    written = await request.ask_here(records.EXPORT_LIST)
    form = None if error is None else request.form
    choices = [_choice(request, each) for each in kept.kept]
    stored = {
        each.field: StoredField(each.label, each.chosen, dict(each.options)[each.chosen])
        for each in choices
    }
    if form is not None:
        choices = [replace(each, chosen=form.text(each.field)) for each in choices]
    return {
        "choices": choices,
        "stored": [
            (request.words(_STORED[each.name]), each.count, each.rows, _mb(each.bytes))
            for each in kept.stored
        ],
        "stored_mb": _mb(limited_bytes(kept.stored)),
        "stored_mb_max": _mb(kept.stored_bytes_max),
        "erasures": erasures.erasures,
        "exports": [each for each in written.exports if each.state in _STANDING],
        "labels": {each.field: each.label for each in choices},
        **edit(error, form, version, stored),
    }


def _mb(size: int) -> int:
    """Megabytes; what is not nothing is one at least."""
    return -(-size // _MB)


@dataclass(frozen=True, slots=True)
class RetentionChoice:
    """One kind of data, with the possible numbers of days."""

    field: str
    label: Markup
    options: list[tuple[str, Markup]]
    chosen: str


def _choice(request: PageRequest, kind: RetentionOfKind) -> RetentionChoice:
    label, chosen = request.words(_KINDS[kind.name]), str(kind.chosen or "")
    return RetentionChoice(f"{kind.name}_days", label, _options(request, kind), chosen)


def _options(request: PageRequest, kind: RetentionOfKind) -> list[tuple[str, Markup]]:
    words, operators = request.words, kind.operator_days
    if operators is None:
        ours = words("As long as we do: for ever")
    else:
        ours = words.counted(
            "As long as we do: {n} day", "As long as we do: {n} days", operators, n=operators
        )
    # One that the operator no longer offers is shown as long as it is chosen.
    days = sorted({*kind.offered, *([kind.chosen] if kind.chosen else [])})
    return [("", ours)] + [
        (str(each), words.counted("{n} day", "{n} days", each, n=each)) for each in days
    ]


# -- one number


async def ask_forget(request: PageRequest) -> TrioResponse:
    """The data of a number, with the question; without a number, the field for one."""
    typed = request.form.text("number")
    if not typed:
        return await request.page(_FORGET, figures=None, typed="")
    try:
        figures = await request.ask_here(records.NUMBER_SHOW, number=typed)
    except Refusal as error:
        return await request.again(_FORGET, error, figures=None, typed=typed)
    return await request.page(_FORGET, figures=figures, typed=typed, is_known=_is_known(figures))


async def forget(request: PageRequest) -> TrioResponse:
    number = request.form.text("number")
    try:
        figures = await request.ask_here(records.NUMBER_SHOW, number=number)
        if request.form.text("confirm") != figures.number[-_SHOWN_DIGITS:]:
            faults = {
                "confirm": request.words("These are not its last four characters.")
                if "@" in figures.number
                else request.words("These are not its last four digits.")
            }
            values = {"figures": figures, "typed": number, "is_known": _is_known(figures)}
            return await request.wrong(_FORGET, faults, values)
        erasure = await request.ask_here(records.NUMBER_FORGET, number=figures.number)
    except Refusal as error:
        return await request.again(_FORGET, error, figures=None, typed=number)
    return request.go(request.at(f"settings/deletions/{erasure.id}"))


def _is_known(figures: NumberFigures) -> bool:
    held = (
        figures.messages,
        figures.inbound,
        figures.verifications,
        figures.mailing_rows,
        figures.lists,
    )
    return any(held)


async def show_deletion(request: PageRequest) -> TrioResponse:
    return await request.page("account_data/deletion.html", erasure=await _erasure(request))


async def deletion_piece(request: PageRequest) -> TrioResponse:
    """The progress, for a page that stays open."""
    return await request.piece("account_data/progress.html", erasure=await _erasure(request))


async def _erasure(request: PageRequest) -> ErasureProgress:
    erasure = await request.ask(records.ERASURE_SHOW, erasure_id=request.arguments["erasure_id"])
    if erasure.number is None:
        raise NotFound("There is no such deletion.")
    return erasure


_OWNER: Final = PageAccess.OWNER
_AT: Final = "/app/<org>/settings"
_DELETION: Final = f"{_AT}/deletions/<erasure_id>"
ROUTES: Final = (
    PageRoute(path=f"{_AT}/kept", view=shows(_PAGE, _values), access=_OWNER),
    PageRoute(path=f"{_AT}/kept", view=save, access=_OWNER, method="POST"),
    PageRoute(path=f"{_AT}/forget", view=ask_forget, access=_OWNER),
    PageRoute(path=f"{_AT}/forget", view=forget, access=_OWNER, method="POST", once=True),
    PageRoute(path=_DELETION, view=show_deletion, access=_OWNER),
    PageRoute(path=f"{_DELETION}/piece", view=deletion_piece, access=_OWNER),
)
