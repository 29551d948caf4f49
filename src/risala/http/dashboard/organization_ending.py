"""The end of an organization."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.features.own_data.records import DELETE_ORGANIZATION
from risala.engine.model.errors import Refusal
from risala.engine.model.records.people import organizations
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

DELETED: Final = N_("The organization is deleted. Its data is being erased.")
_ORGANIZATION: Final = "endings/organization.html"


async def ask_delete(request: PageRequest) -> TrioResponse:
    deletion = await request.ask_here(organizations.DELETION)
    return await request.page(_ORGANIZATION, deletion=deletion)


async def delete(request: PageRequest) -> TrioResponse:
    try:
        await request.ask_here(DELETE_ORGANIZATION, name=request.form.text("name"))
    except Refusal as error:
        deletion = await request.ask_here(organizations.DELETION)
        return await request.again(_ORGANIZATION, error, deletion=deletion)
    return request.go("/app", DELETED)


_OWNER: Final = PageAccess.OWNER
ROUTES: Final = (
    PageRoute(path="/app/<org>/settings/delete", view=ask_delete, access=_OWNER),
    PageRoute(path="/app/<org>/settings/delete", view=delete, access=_OWNER, method="POST"),
)
