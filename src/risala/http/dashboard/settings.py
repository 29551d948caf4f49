"""What owners set for an organization: name, time zone, how texts are encoded, the day's limit."""

from __future__ import annotations

from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Refusal
from risala.http.web.access import PageAccess
from risala.http.web.languages import N_
from risala.http.web.routes import PageRoute
from risala.http.web.visit import Visit

SAVED: Final = N_("The settings are saved; they hold at once.")
_PAGE: Final = "settings/show.html"


async def show(visit: Visit) -> TrioResponse:
    return await visit.page(_PAGE, organization=visit.organization, form=None)


async def save(visit: Visit) -> TrioResponse:
    form = visit.form
    try:
        await visit.perform_here(
            "org.set",
            name=form.text("name"),
            time_zone=form.text("time_zone"),
            smart_encoding=form.ticked("smart_encoding"),
            owner_spend_cap=form.text("owner_spend_cap") or None,
        )
    except Refusal as error:
        return await visit.again(_PAGE, error, organization=visit.organization, form=form)
    return visit.go(visit.at("settings"), SAVED)


ROUTES: Final = (
    PageRoute(path="/app/<org>/settings", view=show, access=PageAccess.OWNER),
    PageRoute(path="/app/<org>/settings", view=save, access=PageAccess.OWNER, method="POST"),
)
