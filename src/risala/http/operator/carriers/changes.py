"""The settings file read again: a preview of the changes, then applying them."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Conflict, Refusal
from risala.engine.model.records.carriers import rereading
from risala.engine.model.records.carriers.rereading import SettingsPreview
from risala.http.operator.carriers.listing import PAGE
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute

APPLIED: Final = N_("The service now uses the file.")
KINDS: Final = {
    "added": N_("new"),
    "changed": N_("changed"),
    "removed": N_("removed"),
}
EFFECTS: Final = {
    "starts": N_("It connects at once."),
    "leaves": N_(
        "It gets nothing new, finishes what it began, and is disconnected a minute later. Receipts "
        "that come for it still find their messages."
    ),
    "restarts": N_(
        "It gets nothing new, finishes what it began, and reconnects with the new settings."
    ),
    "at_once": N_("It continues, and obeys at once."),
    "none": N_("Nothing changes: it is disabled."),
}
_CHANGES: Final = f"{PAGE}/changes"
_TEMPLATE: Final = "carriers/changes.html"


async def show(request: PageRequest) -> TrioResponse:
    try:
        return await request.page(_TEMPLATE, await _values(request))
    except Conflict as error:  # a demo has its carriers from no file
        return await request.page(
            _TEMPLATE,
            _shown(SettingsPreview()),
            faults=faults_of(request.words, error, request.plan),
        )


async def _values(request: PageRequest) -> dict[str, Any]:
    return _shown(await request.ask(rereading.PREVIEW))


def _shown(preview: SettingsPreview) -> dict[str, Any]:
    return {
        "preview": preview,
        "kinds": KINDS,
        "effects": EFFECTS,
        "is_same": not (preview.faults or preview.carriers or preview.settings),
        "written": _written,
    }


def _written(value: object) -> str:
    """A value of a setting, as in the file; a missing one is empty."""
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


async def apply(request: PageRequest) -> TrioResponse:
    """Apply the file that the operator saw; a file changed since then is shown first."""
    try:
        await request.ask(rereading.APPLY, hash=request.form.text("hash"))
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request))
    return request.go(PAGE, APPLIED)


ROUTES: Final = (
    PageRoute(path=_CHANGES, view=show, access=PageAccess.OPERATOR, needs=rereading.PREVIEW),
    PageRoute(
        path=_CHANGES, view=apply, access=PageAccess.OPERATOR, needs=rereading.APPLY, method="POST"
    ),
)
