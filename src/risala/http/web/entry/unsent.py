"""What somebody wrote in a form and sent after their session had ended: kept until they are back.

Nothing of such a form is done. Whoever signs in again on the same browser is shown what it says,
and sends it by a button of their own; without script as well. Forms are kept in memory alone, few
and not for long: what is lost is what was lost before.
"""

from __future__ import annotations

from functools import partial
from typing import Final
from urllib.parse import urlencode

from quart_trio.wrappers import TrioResponse

from risala.http.web.access import PageAccess
from risala.http.web.forms import UNSENT_AGE_MAX_MS, UnsentForm, read_form
from risala.http.web.routes import PageRoute
from risala.http.web.visit import Visit

_DAY_MS: Final = 24 * 3_600_000
COOKIE_DAYS: Final = UNSENT_AGE_MAX_MS / _DAY_MS


def place(root: str) -> str:
    """Where somebody comes who is back."""
    return f"{root or '/app'}/again"


async def turn_away(visit: Visit) -> TrioResponse:
    """Send somebody who posted without a session to sign in, and then back to what they wrote.

    Raises:
        Problem: it is no form.
    """
    request, sign_in = visit.request, visit.face.sign_in
    # Nobody else may lay something down here for a reader to send: a browser that says nothing is
    # not believed, as there is no mark to prove it.
    is_ours = request.headers.get("sec-fetch-site") == "same-origin" or (
        bool(visit.door.origin) and request.headers.get("origin", "").lower() == visit.door.origin
    )
    if visit.session is not None or not is_ours:
        return visit.go(sign_in)
    now_ms = visit.site.clock.now_ms()
    name = visit.site.unsent.keep(request.path, await read_form(request), now_ms)
    if name is None:
        return visit.go(sign_in)
    reply = visit.go(f"{sign_in}?" + urlencode({"next": place(visit.face.root)}))
    visit.door.set_cookie(reply, visit.door.unsent_cookie, name, days=COOKIE_DAYS)
    return reply


def kept(visit: Visit) -> UnsentForm | None:
    """What this browser has sent in vain."""
    name = visit.request.cookies.get(visit.door.unsent_cookie, "")
    return visit.site.unsent.find(name, visit.site.clock.now_ms()) if name else None


async def show(visit: Visit) -> TrioResponse:
    form = kept(visit)
    if form is None or not _is_theirs(visit, form):
        return visit.go(visit.face.home)
    return await visit.page("sign_in/again.html", unsent=form)


def _is_theirs(visit: Visit, form: UnsentForm) -> bool:
    """Whether the form is of an organization that they are a member of, or of none."""
    _, first, *rest = form.path.split("/")
    if first != "app" or not rest or not rest[0].startswith("org_"):
        return True
    assert visit.session is not None, "the route lets strangers in"
    return any(rest[0] == each.organization_id for each in visit.session.places)


def routes(root: str) -> tuple[PageRoute, ...]:
    access = PageAccess.OPERATOR if root else PageAccess.SIGNED_IN
    page = partial(PageRoute, access=access)
    return (page(path=place(root), view=show),)
