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


async def show(request: PageRequest) -> TrioResponse:
    people = request.site.gateway.people
    assert request.session is not None, "the route lets nobody else in"
    if people.sessions.user_caller(request.session).freshness is Freshness.FRESH:
        return request.go(_target(request))
    return await request.page(_PAGE, _values(request))


async def submit(request: PageRequest) -> TrioResponse:
    session, people = request.session, request.site.gateway.people
    assert session is not None, "the route lets nobody else in"
    form = request.form
    try:
        if session.has_factor:
            shown = shown_factor(request)
            access = request.site.gateway.access(factors.ACCESS)
            result = await access.freshen(session, request.browser, shown)
        elif "code" in form.fields:
            result = await people.sign_in.freshen_by_code(
                session, request.browser, form.text("code")
            )
        else:
            await people.sign_in.begin(request.browser, session.user.email, session.kind)
            return await request.page(_PAGE, _values(request))
    except (RateLimited, Forbidden) as error:
        return await _refused(request, error)
    if result is True:
        return request.go(_target(request))
    if not session.has_factor:
        return await request.wrong(_PAGE, {"code": request.words(WRONG_CODE)}, _values(request))
    field = ANSWER_FIELD if form.text(ANSWER_FIELD) else TYPED_FIELD
    return await request.wrong(_PAGE, {field: request.words(WRONG[field])}, _values(request))


async def _refused(request: PageRequest, error: EngineError) -> TrioResponse:
    return await request.wrong(
        _PAGE, faults_of(request.words, error, request.plan), _values(request)
    )


def _values(request: PageRequest) -> dict[str, object]:
    session = request.session
    assert session is not None, "the route lets nobody else in"
    has_factor = session.has_factor and session.bound_to is None
    return {
        "action": fresh_path(request.face.root),
        "next": _target(request),
        "minutes": FRESH_MS // 60_000,
        "has_factor": has_factor,
        "question": question(request) if has_factor else None,
        "asked": None
        if session.has_factor or session.bound_to
        else request.site.gateway.people.sign_in.pending(request.cookie),
        "digits": SIGN_IN_DIGITS[SessionKind(session.kind)],
        "has_outbox": has_outbox(request),
        "takes_email": takes_email(request),
        "provider": None if has_factor else provider_name(request),
        "at_provider": f"{way_of(request.face.root, session.bound_to or '')}?"
        + urlencode({"fresh": "1", "next": _target(request)}),
    }


def _target(request: PageRequest) -> str:
    root = request.face.root
    places = (root or "/app", f"{root}/account")
    return safe_next(request.form.text("next"), places) or request.face.home


def own_access(root: str) -> PageAccess:
    """The readers who may open the pages of their own sign-in, below ``root``."""
    return PageAccess.OPERATOR if root else PageAccess.SIGNED_IN


def routes(root: str) -> tuple[PageRoute, ...]:
    """The address below ``root``."""
    access = own_access(root)
    page = partial(PageRoute, path=fresh_path(root), access=access, before_factor=True)
    return (page(view=show), page(view=submit, method="POST"))
