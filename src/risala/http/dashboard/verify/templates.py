"""Verify: texts of codes that requests choose by name."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.session_details.records import TEMPLATES
from risala.engine.model.errors import Refusal
from risala.engine.model.records.verify.settings import CONFIG
from risala.http.dashboard.verify.settings import SAVED, own_names
from risala.http.web.face import PageAccess
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

_PAGE: Final = "verify/templates.html"
_PATH: Final = "/app/<org>/verify/templates"
_FIELDS: Final = ("name", "language", "text")


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    shown = await request.ask_here(TEMPLATES)
    names = own_names(await request.ask_here(CONFIG))
    return {
        "templates": shown.templates,
        "language_names": names,
        "language_choices": [("", request.words("Any other")), *names.items()],
        "labels": {
            "name": request.words("Name"),
            "language": request.words("Language"),
            "text": request.words("Text"),
        },
        "typed": {name: "" if error is None else request.form.text(name) for name in _FIELDS},
    }


async def save(request: PageRequest) -> TrioResponse:
    form = request.form
    try:
        await request.ask_here(
            TEMPLATES,
            name=form.text("name"),
            language=form.text("language") or None,
            text=form.text("text"),
        )
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("verify/templates"), SAVED)


ROUTES: Final = (
    PageRoute(path=_PATH, view=shows(_PAGE, _values), access=PageAccess.VIEWER),
    PageRoute(path=_PATH, view=save, access=PageAccess.DEVELOPER, method="POST"),
)
