"""The note of an organization: its members read it, and developers write it."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.notes.feature import NOTE, Note
from risala.engine.model.errors import Refusal
from risala.http.web.editing.declared import DeclaredForm
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("The note is saved.")
_PAGE: Final = "notes.html"
_PATH: Final = "/app/<org>/note"
_FORM: Final = DeclaredForm(Note, ("text",))


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    note = await request.ask_here(NOTE)
    typed = None if error is None else request.form
    labels = _FORM.labels(request.words)
    return {"note": note, "fields": _FORM.drawn(request.words, note, typed), "labels": labels}


async def save(request: PageRequest) -> TrioResponse:
    try:
        await request.ask_here(NOTE, text=request.form.text("text"))
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("note"), SAVED)


ROUTES: Final = (
    PageRoute(
        path=_PATH,
        view=shows(_PAGE, _values),
        access=PageAccess.VIEWER,
        entry=NavItem("note", "texts", N_("Note"), after="members"),
    ),
    PageRoute(path=_PATH, view=save, access=PageAccess.DEVELOPER, method="POST"),
)
