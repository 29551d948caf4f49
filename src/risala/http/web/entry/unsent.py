"""A form that was sent after its session had ended: kept until its author is back.

Such a form has no effect, even if they have signed in again in another tab meanwhile: its page
belongs to the earlier session. The user signed in on the same browser sees the form's content and
sends it with a button, also without script. Forms are kept in memory only, few and not for long; a
lost form is as lost as it was without this.
"""

from __future__ import annotations

from functools import partial

from quart_trio.wrappers import TrioResponse

from risala.http.web.face import PageAccess, again_path
from risala.http.web.forms import UnsentForm
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute


def find_unsent(request: PageRequest) -> UnsentForm | None:
    """The forms that this browser sent without a session."""
    name = request.http.cookies.get(request.cookie_policy.unsent_cookie, "")
    return request.site.unsent.find(name, request.site.clock.now_ms()) if name else None


async def show(request: PageRequest) -> TrioResponse:
    form = find_unsent(request)
    if form is None or not _is_theirs(request, form):
        return request.go(request.face.home)
    return await request.page("sign_in/again.html", unsent=form)


def _is_theirs(request: PageRequest, form: UnsentForm) -> bool:
    """Whether the form is of no organization, or of one that they are a member of."""
    _, first, *rest = form.path.partition("?")[0].split("/")
    if first != "app" or not rest or not rest[0].startswith("org_"):
        return True
    assert request.session is not None, "the route lets strangers in"
    return any(rest[0] == each.organization_id for each in request.session.places)


def routes(root: str) -> tuple[PageRoute, ...]:
    access = PageAccess.OPERATOR if root else PageAccess.SIGNED_IN
    page = partial(PageRoute, access=access)
    return (page(path=again_path(root), view=show),)
