"""Conflicting edits: a form shows the values stored meanwhile before it is saved."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.errors import Conflict, EditConflict, EngineError
from risala.engine.model.money import minor_units
from risala.http.web.forms import SentForm
from risala.http.web.languages import N_
from risala.http.web.once import StaleForm
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import done_by, refusal_sentence

VERSION_FIELD: Final = "version"
"""The hidden field of a form that edits."""


@dataclass(frozen=True, slots=True)
class StandsNow:
    """A field whose stored value differs from the typed one."""

    label: Markup | str
    now: Markup | str
    """The stored value; empty: nothing."""


@dataclass(frozen=True, slots=True)
class StoredField:
    """A field of a form as it is stored now."""

    label: Markup | str
    value: str
    """As the form would send it back; of boxes, the ticked ones, one a line."""
    shown: Markup | str | None = None
    """As shown to the reader; None: the value itself."""
    is_amount: bool = False
    """An amount of money: 100 and 100.00 are the same."""

    def is_typed_in(self, form: SentForm, name: str) -> bool:
        """Whether the form has the same in this field."""
        if not self.is_amount:
            several = form.all(name)
            typed = form.text(name) if len(several) < 2 else "\n".join(several)
            return typed == self.value
        return _minor(form.amount(name)) == _minor(self.value)


def _minor(amount: str) -> int | str:
    """Minor units; a text that is no amount, or is empty, is returned unchanged."""
    try:
        return minor_units(amount)
    except ValueError:
        return amount


def as_seen(form: SentForm) -> dict[str, int]:
    """The version that a form was drawn with, for the operation that it asks for."""
    text = form.text(VERSION_FIELD)
    return {VERSION_FIELD: int(text)} if text.isascii() and text.isdigit() else {}


def edit(
    error: EngineError | None,
    form: SentForm | None,
    version: int | None,
    now: Mapping[str, StoredField],
) -> dict[str, object]:
    """The ``version`` of an edit's form, and the stored values (``stands``) that changed meanwhile.

    Args:
        version: of ``now``, both read after the refusal.
        now: by the names of the form's fields.

    Only a form that shows the other's values carries their version, since its reader has seen them.
    A form that was refused for another reason keeps the version that it was drawn with.
    """
    if form is None:
        return {"version": version, "stands": ()}
    if not isinstance(error, EditConflict):
        return {"version": form.text(VERSION_FIELD), "stands": ()}
    changed = tuple(
        StandsNow(each.label, each.value if each.shown is None else each.shown)
        for name, each in now.items()
        if not each.is_typed_in(form, name)
    )
    return {"version": version, "stands": changed}


# Forms that cannot be done now: they are old, somebody else changed the thing, or its state does
# not allow it. Each page says what happened, and leads back to the thing.

NO_PAGES: Final = ("live", "file", "piece")
"""Last segments of addresses that are streams, files and parts of pages."""


class _ConflictWords(NamedTuple):
    title: str
    link: str
    """To the thing, or to its form."""


STALE: Final = _ConflictWords(N_("This form is old"), N_("Open the form again"))
EDITED: Final = _ConflictWords(
    N_("Somebody else changed this meanwhile"), N_("See it as it is now")
)
OTHER: Final = _ConflictWords(N_("This cannot be done now"), N_("Back to where you were"))
EDITED_BY: Final = N_("It was {who}. Nothing was done here. Look at it as it is now, then decide.")
NOT_DONE: Final = N_(
    "Nothing was done. Check whether it was done before, then open the form again."
)


async def conflict(
    request: PageRequest, error: Conflict | StaleForm, pages: Sequence[re.Pattern[str]]
) -> TrioResponse:
    """The page of a conflict.

    Args:
        pages: the addresses of all pages of the site.
    """
    known = (
        STALE
        if isinstance(error, StaleForm)
        else EDITED
        if isinstance(error, EditConflict)
        else OTHER
    )
    words = request.words
    if isinstance(error, StaleForm):
        sentence = words(NOT_DONE)
    elif isinstance(error, EditConflict):
        who = done_by(words, error.who)
        sentence = words(EDITED_BY, who=who)
    else:
        sentence = refusal_sentence(words, error)
    return await request.page(
        "error.html",
        status=HTTPStatus.CONFLICT,
        error_status=HTTPStatus.CONFLICT,
        title=words(known.title),
        sentence=sentence,
        back=back_of(request, pages),
        back_text=words(known.link),
    )


def back_of(request: PageRequest, pages: Sequence[re.Pattern[str]]) -> str | None:
    """The page of the thing that a form is about: the nearest one above the form's address. None:
    there is none."""
    path, ended = request.http.path, request.http.method == "GET"
    while path.count("/") > 1:
        if not ended and any(each.fullmatch(path) for each in pages):
            return f"{path}{request.tail if request.is_inside else ''}"
        path, ended = path.rpartition("/")[0], False
    return None
