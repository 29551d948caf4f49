"""Verify tried by hand: a code to the user's own phone, and the answers a program would get."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.people.countries import CountryUse
from risala.engine.model.records.verify import sessions
from risala.engine.model.records.verify.settings import CONFIG
from risala.http.dashboard.abroad import open_abroad
from risala.http.dashboard.snippets import marked
from risala.http.dashboard.verify.sessions import session_of
from risala.http.dashboard.verify.settings import own_names
from risala.http.web.face import PageAccess
from risala.http.web.forms import SentForm
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

_ASK: Final = "verify/try.html"
_JUDGE: Final = "verify/judge.html"
_WISHES: Final = {"locale": "locale", "app_hash": "appHash", "origin": "origin"}
"""Options of a code, by the names of our form, with those of the API."""
_ANSWERS: Final = ("approved", "denied")


async def show(request: PageRequest) -> TrioResponse:
    verification_id = request.form.text("id")
    if not verification_id:
        return await request.page(_ASK, await _choices(request), form=SentForm())
    return await request.page(_JUDGE, await _session_status(request, verification_id))


async def _choices(request: PageRequest) -> dict[str, Any]:
    """The choices of the form, and the cost of each."""
    configuration = await request.ask_here(CONFIG)
    settings, names = configuration.settings, own_names(configuration)
    return {
        "languages": [*names.items()],
        "prices": [
            (
                names.get(name),
                size,
                [each for each in configuration.autofill_sizes if each.language == name],
            )
            for name, size in configuration.sizes.items()
        ],
        "abroad": await open_abroad(request, CountryUse.VERIFY),
        "app_hashes": [(each, each) for each in settings.app_hashes],
        "origins": [(each, each) for each in settings.origins],
        "zeros": "0" * settings.code_length,
        "sender": settings.sender,
    }


async def send(request: PageRequest) -> TrioResponse:
    form = request.form
    wishes = form.filled(*_WISHES)
    try:
        sent = await request.ask_here(
            sessions.SEND, to=form.text("to"), mode=request.mode.value, **wishes
        )
    except Refusal as error:
        return await request.again(_ASK, error, await _choices(request), form=form)
    return request.go(request.at("verify/try", id=sent.verification_id, **wishes))


async def judge(request: PageRequest) -> TrioResponse:
    form, verification_id = request.form, request.form.text("id")
    await session_of(request, verification_id)
    try:
        judged = await request.ask_here(
            sessions.CHECK, verification_id=verification_id, code="".join(form.text("code").split())
        )
    except Refusal as error:
        return await request.again(_JUDGE, error, await _session_status(request, verification_id))
    wishes = form.filled(*_WISHES)
    address = request.at("verify/try", id=verification_id, answer=judged.status, **wishes)
    return request.go(address)


async def _session_status(request: PageRequest, verification_id: str) -> dict[str, Any]:
    """The state of the session, and how a program would have done the same."""
    session = await session_of(request, verification_id)
    form = request.form
    wishes = {_WISHES[name]: text for name, text in form.filled(*_WISHES).items()}
    answer = form.text("answer") if request.http.method == "GET" else ""
    answer = answer if answer in _ANSWERS else ""
    settings = (await request.ask_here(CONFIG)).settings
    return {
        "session": session,
        "left": session.attempts_max - session.attempts,
        "kept": form.filled(*_WISHES),
        "answer": answer,
        "zeros": "0" * settings.code_length,
        "sending": _request(request, "send", {"to": session.to, **wishes}),
        "sent": _answer({"verificationId": verification_id}),
        "checking": _request(request, "check", {"verificationId": verification_id, "code": "…"}),
        "checked": _answer({"status": answer}) if answer else None,
    }


def _request(request: PageRequest, endpoint: str, body: Mapping[str, str]) -> Markup:
    """The request of a program; the key itself is not shown."""
    text = shlex.quote(json.dumps(body, ensure_ascii=False))
    return marked(
        f"curl {request.base_url}/api/verify/{endpoint} \\\n"
        f'  -H "x-api-key: $RISALA_KEY" -H "content-type: application/json" \\\n  -d {text}'
    )


def _answer(body: Mapping[str, str]) -> Markup:
    return marked(json.dumps(body))


_TRY: Final = "/app/<org>/verify/try"
ROUTES: Final = (
    PageRoute(path=_TRY, view=show, access=PageAccess.DEVELOPER),
    PageRoute(path=_TRY, view=send, access=PageAccess.DEVELOPER, method="POST", once=True),
    PageRoute(path=f"{_TRY}/check", view=judge, access=PageAccess.DEVELOPER, method="POST"),
)
