"""Members: their roles, open invitations, and adding and removing people."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.people import members
from risala.engine.model.records.people.members import Members, MemberView
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, refusal_sentence
from risala.http.web.routes import PageRoute, shows_form

INVITED: Final = N_("The invitation is on its way by e-mail.")
WITHDRAWN: Final = N_("The invitation is withdrawn.")
ROLE_CHANGED: Final = N_("The role is changed, and applies at once.")
REMOVED: Final = N_("They are no longer a member.")
_LIST: Final = "members/list.html"
_INVITE: Final = "members/invite.html"
_REMOVE: Final = "members/remove.html"


async def show(request: PageRequest) -> TrioResponse:
    return await request.page(_LIST, listed=await _listed(request), form=request.form)


async def invite(request: PageRequest) -> TrioResponse:
    form = request.form
    arguments: dict[str, object] = {
        "email": form.text("email"),
        "role": form.text("role", "developer"),
    }
    try:
        await request.ask_here(members.INVITE, **arguments)
    except Refusal as error:
        return await request.again(_INVITE, error, form=form)
    return request.go(request.at("members"), INVITED)


async def withdraw(request: PageRequest) -> TrioResponse:
    await request.ask_here(members.UNINVITE, invitation_id=request.arguments["invitation_id"])
    return request.go(request.at("members"), WITHDRAWN)


async def set_role(request: PageRequest) -> TrioResponse:
    arguments: dict[str, object] = {
        "user_id": request.arguments["user_id"],
        "role": request.form.text("role"),
    }
    return await _edit(request, members.SET_ROLE, arguments, ROLE_CHANGED)


async def ask_remove(request: PageRequest) -> TrioResponse:
    return await request.page(_REMOVE, member=await _member(request))


async def remove(request: PageRequest) -> TrioResponse:
    return await _edit(request, members.REMOVE, {"user_id": request.arguments["user_id"]}, REMOVED)


async def _edit(
    request: PageRequest, ask: Ask[MemberView], arguments: dict[str, object], done: str
) -> TrioResponse:
    """Apply an edit to the version that the reader saw; a conflict is shown above the list."""
    version = request.form.text("version")
    if version.isdigit():
        arguments["version"] = int(version)
    try:
        await request.ask_here(ask, **arguments)
    except NotFound:  # no such member: the fault is in the address, not in a field of the form
        raise
    except Refusal as error:
        faults = {TOP: refusal_sentence(request.words, error)}
        return await request.wrong(
            _LIST, faults, {"listed": await _listed(request), "form": request.form}
        )
    return request.go(request.at("members"), done)


async def _listed(request: PageRequest) -> Members:
    return await request.ask_here(members.LIST)


async def _member(request: PageRequest) -> MemberView:
    for member in (await _listed(request)).members:
        if member.user_id == request.arguments["user_id"]:
            return member
    raise NotFound("There is no such member.")


_MEMBER: Final = "/app/<org>/members/<user_id>"
_INVITATION: Final = "/app/<org>/members/invitations/<invitation_id>"
_OWNER: Final = PageAccess.OWNER
ROUTES: Final = (
    PageRoute(path="/app/<org>/members", view=show, access=PageAccess.VIEWER),
    PageRoute(path="/app/<org>/members", view=invite, access=_OWNER, method="POST", once=True),
    # The form of the dialog as a page: for browsers without script.
    PageRoute(path="/app/<org>/members/invite", view=shows_form(_INVITE), access=_OWNER),
    PageRoute(path=f"{_INVITATION}/withdraw", view=withdraw, access=_OWNER, method="POST"),
    PageRoute(path=f"{_MEMBER}/role", view=set_role, access=_OWNER, method="POST"),
    PageRoute(path=f"{_MEMBER}/remove", view=ask_remove, access=_OWNER),
    PageRoute(path=f"{_MEMBER}/remove", view=remove, access=_OWNER, method="POST"),
)
