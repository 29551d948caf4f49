"""Forms that cannot be done now: they are old, somebody else changed the thing, or its state does
not allow it. Each page says what happened, and leads back to the thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final, NamedTuple

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Conflict, EditConflict
from risala.http.web.languages import N_
from risala.http.web.once import StaleForm
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import done_by, refusal_sentence

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
