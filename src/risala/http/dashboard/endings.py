"""The end of the user's own account."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.people import account
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, refusal_sentence
from risala.http.web.routes import PageRoute, shows
from risala.sms.typed import Purpose, typed

ACCOUNT_DELETED: Final = N_("Your account is deleted.")
_ACCOUNT: Final = "endings/account.html"


async def delete_account(request: PageRequest) -> TrioResponse:
    address = typed(request.form.text("email"), Purpose.ADDRESS)
    if address.casefold() != request.user.email.casefold():
        faults = {"email": request.words("This is not the address of your account.")}
        return await request.wrong(_ACCOUNT, faults, await _account(request))
    try:
        await request.ask(account.DELETE)
    except Refusal as error:
        faults = {TOP: refusal_sentence(request.words, error)}
        return await request.wrong(_ACCOUNT, faults, await _account(request))
    reply = request.go("/sign-in", ACCOUNT_DELETED)
    request.cookie_policy.drop_cookie(reply, request.cookie_policy.session_cookie)
    return reply


async def _account(request: PageRequest) -> dict[str, Any]:
    return {"account": await request.ask(account.SHOW)}


ROUTES: Final = (
    PageRoute(path="/account/delete", view=shows(_ACCOUNT, _account), access=PageAccess.SIGNED_IN),
    PageRoute(
        path="/account/delete", view=delete_account, access=PageAccess.SIGNED_IN, method="POST"
    ),
)
