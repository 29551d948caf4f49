"""Organizations: found by name, id or an owner's address, and made."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.engine.model.records.people import organizations
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_
from risala.http.web.lists import choice, cursors, pager_of, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows_form

CREATED: Final = N_("The organization is created. Add an owner.")
STATES: Final = {
    "active": NC_("organization", "Active"),
    "suspended": NC_("organization", "Suspended"),
    "deleted": NC_("organization", "Deleted"),
}
BADGES: Final = {"active": "up", "suspended": "paused", "deleted": "disabled"}
"""The look of each existing state."""
FILTERS: Final = (
    typed("search", N_("Name, id, or an owner’s e-mail address")),
    choice("status", N_("State"), STATES),
    *cursors(),
)
PAGE: Final = 50
_LIST: Final = "organizations/list.html"


async def show(request: PageRequest) -> TrioResponse:
    query = request.form.filled("search", "status", "before", "after")
    page = await request.ask(organizations.LIST, limit=PAGE, **query)
    filters = request.form.filled("search", "status")
    return await request.page(
        _LIST,
        query=filters,
        page=page,
        organizations=page.organizations,
        states=states_of(request),
        badges=BADGES,
        pager=pager_of(request.at("organizations"), filters, newer=page.newer, older=page.older),
        form=request.form,
    )


async def create(request: PageRequest) -> TrioResponse:
    form = request.form
    try:
        made = await request.ask(
            organizations.CREATE,
            name=form.text("name"),
            price_per_segment=form.amount("price_per_segment") or None,
        )
    except Refusal as error:
        return await request.again("organizations/new.html", error, form=form)
    return request.go(request.at(f"organizations/{made.id}"), CREATED)


def states_of(request: PageRequest) -> dict[str, Markup]:
    """The states as readers see them."""
    return {each: request.words.among("organization", STATES[each]) for each in STATES}


_PAGE: Final = "/operator/organizations"
_OPERATOR: Final = PageAccess.OPERATOR
ROUTES: Final = (
    PageRoute(path=_PAGE, view=show, access=_OPERATOR, needs=organizations.LIST, filters=FILTERS),
    PageRoute(
        path=f"{_PAGE}/new",
        view=shows_form("organizations/new.html"),
        access=_OPERATOR,
        needs=organizations.CREATE,
    ),
    PageRoute(
        path=f"{_PAGE}/new",
        view=create,
        access=_OPERATOR,
        needs=organizations.CREATE,
        method="POST",
        once=True,
    ),
)
