"""An operator's own devices: those with an open session of the console."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.records.people import account
from risala.http.web.entry.reader import device_name
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import OPERATOR_ROLES
from risala.http.web.routes import PageRoute

SIGNED_OUT: Final = N_("The device is signed out.")
ALL_SIGNED_OUT: Final = N_("All other devices are signed out.")
_PAGE: Final = "/operator/account"


async def show(request: PageRequest) -> TrioResponse:
    signed_in = await request.ask_own(account.DEVICES)
    return await request.page(
        "account/show.html",
        devices=signed_in.devices,
        device_name=device_name,
        operator_roles=OPERATOR_ROLES,
    )


async def sign_out(request: PageRequest) -> TrioResponse:
    assert request.session is not None, "the route lets nobody else in"
    if session_id := request.form.text("session_id"):
        await request.ask_own(account.SIGN_OUT, session_id=session_id)
        return request.go(_PAGE, SIGNED_OUT)
    await request.ask_own(account.SIGN_OUT, but=request.session.id)
    return request.go(_PAGE, ALL_SIGNED_OUT)


ROUTES: Final = (
    PageRoute(path=_PAGE, view=show, access=PageAccess.OPERATOR),
    PageRoute(path=f"{_PAGE}/sign-out", view=sign_out, access=PageAccess.OPERATOR, method="POST"),
)
