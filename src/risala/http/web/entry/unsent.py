"""What somebody wrote in a form and sent after their session had ended: kept until they are back.

Nothing of such a form is done, also where they have signed in again in another tab meanwhile: the
page that the form stands in is of the session before. Who is signed in on the same browser is
shown what it says, and sends it by a button of their own; without script as well. Forms are kept in
memory alone, few and not for long: what is lost is what was lost before.
"""

from __future__ import annotations

from functools import partial

from quart_trio.wrappers import TrioResponse

from risala.http.web.access import PageAccess
from risala.http.web.face import again_path
from risala.http.web.forms import UnsentForm
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute


def find_unsent(visit: PageRequest) -> UnsentForm | None:
    """What this browser has sent in vain."""
    name = visit.request.cookies.get(visit.door.unsent_cookie, "")
    return visit.site.unsent.find(name, visit.site.clock.now_ms()) if name else None


async def show(visit: PageRequest) -> TrioResponse:
    form = find_unsent(visit)
    if form is None or not _is_theirs(visit, form):
        return visit.go(visit.face.home)
    return await visit.page("sign_in/again.html", unsent=form)


def _is_theirs(visit: PageRequest, form: UnsentForm) -> bool:
    """Whether the form is of an organization that they are a member of, or of none."""
    _, first, *rest = form.path.split("/")
    if first != "app" or not rest or not rest[0].startswith("org_"):
        return True
    assert visit.session is not None, "the route lets strangers in"
    return any(rest[0] == each.organization_id for each in visit.session.places)


def routes(root: str) -> tuple[PageRoute, ...]:
    access = PageAccess.OPERATOR if root else PageAccess.SIGNED_IN
    page = partial(PageRoute, access=access)
    return (page(path=again_path(root), view=show),)
