"""Showing once more who one is, before something important: with a factor; without one, by a code
by e-mail. Then the reader goes on to where they were."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlencode

from quart_trio.wrappers import TrioResponse

from risala.engine.features.factors import records as factors
from risala.engine.model.callers import Freshness
from risala.engine.model.errors import EngineError, Forbidden, RateLimited
from risala.engine.model.people import SessionKind
from risala.engine.rules.people.lifetimes import FRESH_MS, SIGN_IN_DIGITS
from risala.http.web.cookie_policy import safe_next
from risala.http.web.entry.identity import way_of
from risala.http.web.entry.outbox import has_outbox
from risala.http.web.entry.sign_in import (
    ANSWER_FIELD,
    TYPED_FIELD,
    WRONG,
    WRONG_CODE,
    provider_name,
    question,
    shown_factor,
    takes_email,
)
from risala.http.web.face import PageAccess, fresh_path
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute

_PAGE = "sign_in/fresh.html"


async def show(visit: PageRequest) -> TrioResponse:
    people = visit.site.gateway.people
    assert visit.session is not None, "the route lets nobody else in"
    if people.user_caller(visit.session).freshness is Freshness.FRESH:
        return visit.go(_target(visit))
    return await visit.page(_PAGE, _values(visit))


async def submit(visit: PageRequest) -> TrioResponse:
    session, people = visit.session, visit.site.gateway.people
    assert session is not None, "the route lets nobody else in"
    form = visit.form
    try:
        if session.has_factor:
            shown = shown_factor(visit)
            access = visit.site.gateway.access(factors.ACCESS)
            result = await access.freshen(session, visit.browser, shown)
        elif "code" in form.fields:
            result = await people.freshen_by_code(session, visit.browser, form.text("code"))
        else:
            await people.ask_code(session, visit.browser)
            return await visit.page(_PAGE, _values(visit))
    except (RateLimited, Forbidden) as error:
        return await _refused(visit, error)
    if result is True:
        return visit.go(_target(visit))
    if not session.has_factor:
        return await visit.wrong(_PAGE, {"code": visit.words(WRONG_CODE)}, _values(visit))
    field = ANSWER_FIELD if form.text(ANSWER_FIELD) else TYPED_FIELD
    return await visit.wrong(_PAGE, {field: visit.words(WRONG[field])}, _values(visit))


async def _refused(visit: PageRequest, error: EngineError) -> TrioResponse:
    return await visit.wrong(_PAGE, faults_of(visit.words, error, visit.plan), _values(visit))


def _values(visit: PageRequest) -> dict[str, object]:
    session = visit.session
    assert session is not None, "the route lets nobody else in"
    has_factor = session.has_factor and session.bound_to is None
    return {
        "action": fresh_path(visit.face.root),
        "next": _target(visit),
        "minutes": FRESH_MS // 60_000,
        "has_factor": has_factor,
        "question": question(visit) if has_factor else None,
        "asked": None
        if session.has_factor or session.bound_to
        else visit.site.gateway.people.pending(visit.cookie),
        "digits": SIGN_IN_DIGITS[SessionKind(session.kind)],
        "has_outbox": has_outbox(visit),
        "takes_email": takes_email(visit),
        "provider": None if has_factor else provider_name(visit),
        "at_provider": f"{way_of(visit.face.root, session.bound_to or '')}?"
        + urlencode({"fresh": "1", "next": _target(visit)}),
    }


def _target(visit: PageRequest) -> str:
    root = visit.face.root
    places = (root or "/app", f"{root}/account")
    return safe_next(visit.form.text("next"), places) or visit.face.home


def own_access(root: str) -> PageAccess:
    """Who may open the pages of a reader's own sign-in, below ``root``."""
    return PageAccess.OPERATOR if root else PageAccess.SIGNED_IN


def routes(root: str) -> tuple[PageRoute, ...]:
    """The address below ``root``."""
    access = own_access(root)
    page = partial(PageRoute, path=fresh_path(root), access=access, before_factor=True)
    return (page(view=show), page(view=submit, method="POST"))
