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
from risala.http.web.routes import PageRoute

INVITED: Final = N_("The invitation is on its way by e-mail.")
WITHDRAWN: Final = N_("The invitation is withdrawn.")
ROLE_CHANGED: Final = N_("The role is changed, and applies at once.")
REMOVED: Final = N_("They are no longer a member.")
_LIST: Final = "members/list.html"
_INVITE: Final = "members/invite.html"
_REMOVE: Final = "members/remove.html"


async def show(visit: PageRequest) -> TrioResponse:
    return await visit.page(_LIST, found=await _found(visit), form=visit.form)


async def show_invite(visit: PageRequest) -> TrioResponse:
    """The form of the dialog as a page: for browsers without script."""
    return await visit.page(_INVITE, form=visit.form)


async def invite(visit: PageRequest) -> TrioResponse:
    form = visit.form
    asked: dict[str, object] = {"email": form.text("email"), "role": form.text("role", "developer")}
    try:
        await visit.ask_here(members.INVITE, **asked)
    except Refusal as error:
        return await visit.again(_INVITE, error, form=form)
    return visit.go(visit.at("members"), INVITED)


async def withdraw(visit: PageRequest) -> TrioResponse:
    await visit.ask_here(members.UNINVITE, invitation_id=visit.arguments["invitation_id"])
    return visit.go(visit.at("members"), WITHDRAWN)


async def set_role(visit: PageRequest) -> TrioResponse:
    asked: dict[str, object] = {
        "user_id": visit.arguments["user_id"],
        "role": visit.form.text("role"),
    }
    return await _edit(visit, members.SET_ROLE, asked, ROLE_CHANGED)


async def ask_remove(visit: PageRequest) -> TrioResponse:
    return await visit.page(_REMOVE, member=await _member(visit))


async def remove(visit: PageRequest) -> TrioResponse:
    return await _edit(visit, members.REMOVE, {"user_id": visit.arguments["user_id"]}, REMOVED)


async def _edit(
    visit: PageRequest, ask: Ask[MemberView], asked: dict[str, object], done: str
) -> TrioResponse:
    """Apply an edit to the version that the reader saw; a conflict is shown above the list."""
    version = visit.form.text("version")
    if version.isdigit():
        asked["version"] = int(version)
    try:
        await visit.ask_here(ask, **asked)
    except NotFound:  # no such member: the fault is in the address, not in a field of the form
        raise
    except Refusal as error:
        faults = {TOP: refusal_sentence(visit.words, error)}
        return await visit.wrong(_LIST, faults, {"found": await _found(visit), "form": visit.form})
    return visit.go(visit.at("members"), done)


async def _found(visit: PageRequest) -> Members:
    return await visit.ask_here(members.LIST)


async def _member(visit: PageRequest) -> MemberView:
    for member in (await _found(visit)).members:
        if member.user_id == visit.arguments["user_id"]:
            return member
    raise NotFound("There is no such member.")


_MEMBER: Final = "/app/<org>/members/<user_id>"
_INVITATION: Final = "/app/<org>/members/invitations/<invitation_id>"
_OWNER: Final = PageAccess.OWNER
ROUTES: Final = (
    PageRoute(path="/app/<org>/members", view=show, access=PageAccess.VIEWER),
    PageRoute(path="/app/<org>/members", view=invite, access=_OWNER, method="POST", once=True),
    PageRoute(path="/app/<org>/members/invite", view=show_invite, access=_OWNER),
    PageRoute(path=f"{_INVITATION}/withdraw", view=withdraw, access=_OWNER, method="POST"),
    PageRoute(path=f"{_MEMBER}/role", view=set_role, access=_OWNER, method="POST"),
    PageRoute(path=f"{_MEMBER}/remove", view=ask_remove, access=_OWNER),
    PageRoute(path=f"{_MEMBER}/remove", view=remove, access=_OWNER, method="POST"),
)
