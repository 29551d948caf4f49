"""Numbers with a fixed code, for reviewers of app stores: set, listed and removed."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.fixed_numbers import feature as fixed_numbers
from risala.engine.features.fixed_numbers.feature import CODE_DIGITS, DAYS_MAX, NUMBERS_MAX
from risala.engine.model.errors import NotFound, Refusal
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

SET: Final = N_("The fixed code works from now on.")
REMOVED: Final = N_("The fixed code is removed. Codes to this number leave by SMS.")
_PAGE: Final = "verify/fixed_new.html"
_DAYS: Final = "30"
"""What the form proposes: longer than a review takes."""


async def shown_with_settings(request: PageRequest) -> dict[str, object]:
    numbers = (await request.ask_here(fixed_numbers.LIST)).numbers
    return {"fixed": numbers, "fixed_max": NUMBERS_MAX}


def _values(request: PageRequest) -> dict[str, object]:
    """What was typed, without the code."""
    form = request.form
    typed = {"number": form.text("number"), "days": form.text("days", _DAYS)}
    return {**typed, "digits": CODE_DIGITS, "days_max": DAYS_MAX}


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(_PAGE, _values(request))


async def save(request: PageRequest) -> TrioResponse:
    form = request.form
    days = form.text("days")
    arguments: dict[str, object] = {
        "number": form.text("number"),
        "code": form.text("code"),
        "days": int(days) if days.isascii() and days.isdigit() else 0,
    }
    try:
        await request.ask_here(fixed_numbers.SET, **arguments)
    except Refusal as error:
        return await request.again(_PAGE, error, _values(request))
    return request.go(request.at("verify/settings"), SET)


async def remove(request: PageRequest) -> TrioResponse:
    with suppress(NotFound):  # it ended, or was removed by a double click
        await request.ask_here(fixed_numbers.REMOVE, number=request.form.text("number"))
    return request.go(request.at("verify/settings"), REMOVED)


_HERE: Final = "/app/<org>/verify/settings/fixed"
_OWNER: Final = PageAccess.OWNER
ROUTES: Final = (
    PageRoute(path=_HERE, view=show, access=_OWNER),
    PageRoute(path=_HERE, view=save, access=_OWNER, method="POST"),
    PageRoute(path=f"{_HERE}/remove", view=remove, access=_OWNER, method="POST"),
)
