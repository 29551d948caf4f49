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


async def show(visit: PageRequest) -> TrioResponse:
    verification_id = visit.form.text("id")
    if not verification_id:
        return await visit.page(_ASK, await _choices(visit), form=SentForm())
    return await visit.page(_JUDGE, await _session_status(visit, verification_id))


async def _choices(visit: PageRequest) -> dict[str, Any]:
    """The choices of the form, and the cost of each."""
    found = await visit.ask_here(CONFIG)
    settings, names = found.settings, own_names(found)
    return {
        "languages": [*names.items()],
        "prices": [
            (
                names.get(name),
                size,
                [each for each in found.autofill_sizes if each.language == name],
            )
            for name, size in found.sizes.items()
        ],
        "abroad": await open_abroad(visit, CountryUse.VERIFY),
        "app_hashes": [(each, each) for each in settings.app_hashes],
        "origins": [(each, each) for each in settings.origins],
        "zeros": "0" * settings.code_length,
        "sender": settings.sender,
    }


async def send(visit: PageRequest) -> TrioResponse:
    form = visit.form
    wishes = form.filled(*_WISHES)
    try:
        sent = await visit.ask_here(
            sessions.SEND, to=form.text("to"), mode=visit.mode.value, **wishes
        )
    except Refusal as error:
        return await visit.again(_ASK, error, await _choices(visit), form=form)
    return visit.go(visit.at("verify/try", id=sent.verification_id, **wishes))


async def judge(visit: PageRequest) -> TrioResponse:
    form, verification_id = visit.form, visit.form.text("id")
    await session_of(visit, verification_id)
    try:
        judged = await visit.ask_here(
            sessions.CHECK, verification_id=verification_id, code="".join(form.text("code").split())
        )
    except Refusal as error:
        return await visit.again(_JUDGE, error, await _session_status(visit, verification_id))
    wishes = form.filled(*_WISHES)
    address = visit.at("verify/try", id=verification_id, answer=judged.status, **wishes)
    return visit.go(address)


async def _session_status(visit: PageRequest, verification_id: str) -> dict[str, Any]:
    """The state of the session, and how a program would have done the same."""
    session = await session_of(visit, verification_id)
    form = visit.form
    wishes = {_WISHES[name]: text for name, text in form.filled(*_WISHES).items()}
    answer = form.text("answer") if visit.http.method == "GET" else ""
    answer = answer if answer in _ANSWERS else ""
    settings = (await visit.ask_here(CONFIG)).settings
    return {
        "session": session,
        "left": session.attempts_max - session.attempts,
        "kept": form.filled(*_WISHES),
        "answer": answer,
        "zeros": "0" * settings.code_length,
        "sending": _request(visit, "send", {"to": session.to, **wishes}),
        "sent": _answer({"verificationId": verification_id}),
        "checking": _request(visit, "check", {"verificationId": verification_id, "code": "…"}),
        "checked": _answer({"status": answer}) if answer else None,
    }


def _request(visit: PageRequest, endpoint: str, body: Mapping[str, str]) -> Markup:
    """The request of a program; the key itself is not shown."""
    text = shlex.quote(json.dumps(body, ensure_ascii=False))
    return marked(
        f"curl {visit.base_url}/api/verify/{endpoint} \\\n"
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
