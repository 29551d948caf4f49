"""Members: their roles, open invitations, and adding and removing people."""

from __future__ import annotations

from typing import Any, Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import NotFound, Refusal
from risala.http.web.access import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, refusal_sentence
from risala.http.web.routes import PageRoute

INVITED: Final = N_("The invitation is on its way by e-mail.")
WITHDRAWN: Final = N_("The invitation is withdrawn.")
ROLE_CHANGED: Final = N_("The role is changed; it holds at once.")
REMOVED: Final = N_("They are no member any more.")
_LIST: Final = "members/list.html"
_INVITE: Final = "members/invite.html"
_REMOVE: Final = "members/remove.html"


async def show(visit: PageRequest) -> TrioResponse:
    return await visit.page(_LIST, await _values(visit), form=visit.form)


async def show_invite(visit: PageRequest) -> TrioResponse:
    """The form of the dialog as a page: for browsers without script."""
    return await visit.page(_INVITE, form=visit.form)


async def invite(visit: PageRequest) -> TrioResponse:
    form = visit.form
    asked: dict[str, object] = {"email": form.text("email"), "role": form.text("role", "developer")}
    try:
        await visit.perform_here("member.invite", **asked)
    except Refusal as error:
        return await visit.again(_INVITE, error, form=form)
    return visit.go(visit.at("members"), INVITED)


async def withdraw(visit: PageRequest) -> TrioResponse:
    await visit.perform_here("member.uninvite", invitation_id=visit.arguments["invitation_id"])
    return visit.go(visit.at("members"), WITHDRAWN)


async def set_role(visit: PageRequest) -> TrioResponse:
    asked: dict[str, object] = {
        "user_id": visit.arguments["user_id"],
        "role": visit.form.text("role"),
    }
    return await _edit(visit, "member.set_role", asked, ROLE_CHANGED)


async def ask_remove(visit: PageRequest) -> TrioResponse:
    return await visit.page(_REMOVE, member=await _member(visit))


async def remove(visit: PageRequest) -> TrioResponse:
    return await _edit(visit, "member.remove", {"user_id": visit.arguments["user_id"]}, REMOVED)


async def _edit(
    visit: PageRequest, operation: str, asked: dict[str, object], done: str
) -> TrioResponse:
    """Apply an edit to the version that the reader saw; a conflict is shown above the list."""
    version = visit.form.text("version")
    if version.isdigit():
        asked["version"] = int(version)
    try:
        await visit.perform_here(operation, **asked)
    except NotFound:  # no such member: the fault is in the address, not in a field of the form
        raise
    except Refusal as error:
        faults = {TOP: refusal_sentence(visit.words, error)}
        return await visit.wrong(_LIST, faults, {**await _values(visit), "form": visit.form})
    return visit.go(visit.at("members"), done)


async def _values(visit: PageRequest) -> dict[str, Any]:
    found = await visit.perform_here("member.list")
    return {
        "members": [
            {**each, "own": each["email"] == visit.user.email} for each in found["members"]
        ],
        "invitations": found["invitations"],
    }


async def _member(visit: PageRequest) -> dict[str, Any]:
    for member in (await _values(visit))["members"]:
        if member["userId"] == visit.arguments["user_id"]:
            return dict(member)
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
