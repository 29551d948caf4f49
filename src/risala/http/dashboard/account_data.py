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
from risala.engine.model.records.upkeep.stored import limited_bytes
from risala.http.web.editing.edit_conflict import StoredField, as_seen, edit
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("Saved. Older data is erased within the hour.")
_PAGE: Final = "account_data/show.html"
_FORGET: Final = "account_data/forget.html"
_SHOWN_DIGITS: Final = 4
"""The last digits of a number: the reader types them before it is erased, to confirm it."""
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


async def save(visit: PageRequest) -> TrioResponse:
    form = visit.form
    given = {f"{name}_days": form.text(f"{name}_days") for name in _KINDS}
    days = {name: int(text) for name, text in given.items() if _is_whole(text)}
    try:
        await visit.ask_here(records.KEPT_SET, **days, **as_seen(form))
    except Refusal as error:
        return await visit.again(_PAGE, error, await _values(visit, error))
    return visit.go(visit.at("settings/kept"), SAVED)


async def refused(visit: PageRequest, faults: Mapping[str, Markup]) -> TrioResponse:
    """The page of kept data, for a refused form on it."""
    return await visit.wrong(_PAGE, faults, await _values(visit))


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6


async def _values(visit: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    """The values of the page; with those of a refused form."""
    here = {"organization_id": visit.organization_id}
    kept, version = await visit.ask_to_edit(records.KEPT_SHOW, **here)
    erasures = await visit.ask_here(records.ERASURE_LIST)
    written = await visit.ask_here(records.EXPORT_LIST)
    form = None if error is None else visit.form
    choices = [_choice(visit, each) for each in kept.kept]
    stored = {
        each.field: StoredField(each.label, each.chosen, dict(each.options)[each.chosen])
        for each in choices
    }
    if form is not None:
        choices = [replace(each, chosen=form.text(each.field)) for each in choices]
    return {
        "choices": choices,
        "stored": [
            (visit.words(_STORED[each.name]), each.count, each.rows, _mb(each.bytes))
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


def _choice(visit: PageRequest, kind: RetentionOfKind) -> RetentionChoice:
    label, chosen = visit.words(_KINDS[kind.name]), str(kind.chosen or "")
    return RetentionChoice(f"{kind.name}_days", label, _options(visit, kind), chosen)


def _options(visit: PageRequest, kind: RetentionOfKind) -> list[tuple[str, Markup]]:
    words, operators = visit.words, kind.operator_days
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


async def ask_forget(visit: PageRequest) -> TrioResponse:
    """The data of a number, with the question; without a number, the field for one."""
    typed = visit.form.text("number")
    if not typed:
        return await visit.page(_FORGET, found=None, typed="")
    try:
        found = await visit.ask_here(records.NUMBER_SHOW, number=typed)
    except Refusal as error:
        return await visit.again(_FORGET, error, found=None, typed=typed)
    return await visit.page(_FORGET, found=found, typed=typed, is_known=_is_known(found))


async def forget(visit: PageRequest) -> TrioResponse:
    number = visit.form.text("number")
    try:
        found = await visit.ask_here(records.NUMBER_SHOW, number=number)
        if visit.form.text("confirm") != found.number[-_SHOWN_DIGITS:]:
            faults = {"confirm": visit.words("These are not its last four digits.")}
            values = {"found": found, "typed": number, "is_known": _is_known(found)}
            return await visit.wrong(_FORGET, faults, values)
        erasure = await visit.ask_here(records.NUMBER_FORGET, number=found.number)
    except Refusal as error:
        return await visit.again(_FORGET, error, found=None, typed=number)
    return visit.go(visit.at(f"settings/deletions/{erasure.id}"))


def _is_known(found: NumberFigures) -> bool:
    held = (found.messages, found.inbound, found.verifications, found.mailing_rows, found.lists)
    return any(held)


async def show_deletion(visit: PageRequest) -> TrioResponse:
    return await visit.page("account_data/deletion.html", erasure=await _erasure(visit))


async def deletion_piece(visit: PageRequest) -> TrioResponse:
    """The progress, for a page that stays open."""
    return await visit.piece("account_data/progress.html", erasure=await _erasure(visit))


async def _erasure(visit: PageRequest) -> ErasureProgress:
    erasure = await visit.ask(records.ERASURE_SHOW, erasure_id=visit.arguments["erasure_id"])
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
