"""Which organization: chosen, founded, or joined by an invitation."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.people import account
from risala.engine.model.records.people.organizations import FOUND
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

FOUNDED: Final = N_("Your organization is ready.")
JOINED: Final = N_("You are a member now.")
DECLINED: Final = N_("The invitation is declined.")
_PAGE: Final = "organizations.html"


async def root(request: PageRequest) -> TrioResponse:
    return request.go("/app")


async def choose(request: PageRequest) -> TrioResponse:
    """A user with one organization and no invitation has nothing to choose."""
    assert request.session is not None, "the route lets nobody else in"
    places = request.session.places
    invitations = (await request.ask(account.SHOW)).invitations
    if len(places) == 1 and not invitations and "new" not in request.form.fields:
        return request.go(f"/app/{places[0].organization_id}/")
    return await request.page(_PAGE, invitations=invitations, name="")


async def found(request: PageRequest) -> TrioResponse:
    name = request.form.text("name")
    try:
        organization = await request.ask(FOUND, name=name)
    except Refusal as error:
        invitations = (await request.ask(account.SHOW)).invitations
        return await request.again(_PAGE, error, invitations=invitations, name=name)
    first = "start" if request.has("start") else ""
    return request.go(f"/app/{organization.id}/{first}", FOUNDED)


async def accept(request: PageRequest) -> TrioResponse:
    joined = await request.ask(account.ACCEPT, invitation_id=request.arguments["invitation_id"])
    return request.go(f"/app/{joined.organization_id}/", JOINED)


async def decline(request: PageRequest) -> TrioResponse:
    await request.ask(account.DECLINE, invitation_id=request.arguments["invitation_id"])
    return request.go("/app", DECLINED)


async def enter(request: PageRequest) -> TrioResponse:
    return request.go(request.at(request.home()))


_INVITATION: Final = "/app/invitations/<invitation_id>"
ROUTES: Final = (
    PageRoute(path="/", view=root, access=PageAccess.PUBLIC),
    PageRoute(path="/app", view=choose, access=PageAccess.SIGNED_IN),
    PageRoute(path="/app", view=found, access=PageAccess.SIGNED_IN, method="POST", once=True),
    PageRoute(
        path=f"{_INVITATION}/accept", view=accept, access=PageAccess.SIGNED_IN, method="POST"
    ),
    PageRoute(
        path=f"{_INVITATION}/decline", view=decline, access=PageAccess.SIGNED_IN, method="POST"
    ),
    PageRoute(path="/app/<org>", view=enter, access=PageAccess.VIEWER),
    PageRoute(path="/app/<org>/", view=enter, access=PageAccess.VIEWER),
)
