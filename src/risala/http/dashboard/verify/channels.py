"""Channels: the ways by which codes leave, those that are open, and their order."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.channels.records import CHANNELS, ChannelUse, ShownChannels
from risala.engine.model.errors import Refusal
from risala.http.web.editing.declared import DeclaredForm
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

SAVED: Final = N_("Saved. Codes that are sent from now on follow it.")
_PAGE: Final = "verify/channels.html"
_PATH: Final = "/app/<org>/verify/channels"
_FORM: Final = DeclaredForm(
    ChannelUse, ("channels", "secret", "publishable", "fallback_s", "addresses")
)


async def _values(request: PageRequest, error: Refusal | None = None) -> dict[str, Any]:
    shown: ShownChannels = await request.ask_here(CHANNELS)
    typed = None if error is None else request.form
    return {
        "offered": shown.offered,
        "fields": _FORM.drawn(request.words, shown.use, typed),
        "labels": _FORM.labels(request.words),
    }


async def save(request: PageRequest) -> TrioResponse:
    try:
        await request.ask_here(CHANNELS, **_FORM.given(request.form))
    except Refusal as error:
        return await request.again(_PAGE, error, await _values(request, error))
    return request.go(request.at("verify/channels"), SAVED)


ROUTES: Final = (
    PageRoute(path=_PATH, view=shows(_PAGE, _values), access=PageAccess.VIEWER),
    PageRoute(path=_PATH, view=save, access=PageAccess.DEVELOPER, method="POST"),
)
