"""The mailings of an organization, the newest first."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.features.mailings import records as mailings
from risala.engine.features.mailings.records import Mailing, MailingState
from risala.engine.model.states import Mode
from risala.http.dashboard.mailings.words import BADGES, SOURCES
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.languages import N_
from risala.http.web.lists import Pager, counts
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute


@dataclass(frozen=True, slots=True)
class MailingShown:
    """A mailing as its reader sees it in the list."""

    address: str
    name: str
    badge: tuple[str, Markup]
    source: Markup
    is_test: bool
    people: int
    treated: int
    """The people whose rows have become messages, or were refused."""
    price: str
    at: str


async def show(request: PageRequest) -> TrioResponse:
    cursor = request.form.filled("older")
    page = await request.ask_here(mailings.LIST, **cursor)
    older = None if page.older is None else request.at("mailings", older=page.older)
    newest = request.at("mailings") if cursor else None
    shown = [_shown(request, each) for each in page.mailings]
    return await request.page(
        "mailings/list.html", mailings=shown, pager=Pager(newer=newest, older=older)
    )


def _shown(request: PageRequest, mailing: Mailing) -> MailingShown:
    look, word = BADGES[mailing.state]
    is_test = mailing.mode is Mode.TEST
    mode = "?mode=test" if is_test else ""
    # Its price is that of all who were to get it.
    is_cut_short = mailing.state is MailingState.STOPPED and mailing.ready
    return MailingShown(
        address=f"{request.base}/mailings/{mailing.id}{mode}",
        name=mailing.name,
        badge=(look, request.words.among("state of a mailing", word)),
        source=request.words(SOURCES[mailing.source]),
        is_test=is_test,
        people=mailing.ready + mailing.accepted + mailing.refused,
        treated=mailing.accepted + mailing.refused,
        price="–" if is_test or is_cut_short else request.formats.money(mailing.price, bare=True),
        at=request.formats.clock_or_moment(mailing.created_at),
    )


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/mailings",
        view=show,
        access=PageAccess.VIEWER,
        filters=counts("older"),
        entry=NavItem("mailings", "mailings", N_("Mailings"), key="a", after="messages"),
    ),
)
