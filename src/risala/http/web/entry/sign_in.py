"""Sign in and sign out: by a code sent by e-mail or a link from the operator, without a password.

Until the code is right, the answers do not show whether an address is known.
"""

from __future__ import annotations

from functools import partial
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlencode, urlsplit

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.config.numbers import demo_elsewhere
from risala.engine.features.factors import records as factors
from risala.engine.features.factors.records import PasskeySite, ShownFactor
from risala.engine.features.providers import records as providers
from risala.engine.features.providers.records import ACCESS, OfferedProvider
from risala.engine.model.errors import EngineError, Forbidden, Invalid, ProviderNeeded, RateLimited
from risala.engine.model.people import CodeAsked, FactorAwaited, LinkView, SignedIn
from risala.engine.rules.people.lifetimes import SIGN_IN_DIGITS
from risala.http.common.problems import plain
from risala.http.web.cookie_policy import Way, safe_next
from risala.http.web.entry.outbox import has_outbox
from risala.http.web.entry.unsent import find_unsent
from risala.http.web.face import PageAccess, again_path
from risala.http.web.languages import N_, country_name
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, faults_of
from risala.http.web.routes import PageRoute

SIGNED_OUT: Final = N_("You are signed out.")
_EMAIL, _CODE = "sign_in/email.html", "sign_in/code.html"
_FACTOR = "sign_in/factor.html"


async def show(request: PageRequest) -> TrioResponse:
    """``/sign-in`` and ``/sign-up``: the same two steps under two names."""
    target = _target(request)
    if request.session is not None:
        return request.go(target or request.face.home)
    pending = request.site.gateway.people.sign_in.pending(request.cookie)
    if pending is not None and "another" not in request.form.fields:
        if pending.user_id is not None:
            return await request.page(_FACTOR, _factor_values(request, target))
        return await _code_page(request, pending, target)
    return await request.page(_EMAIL, _email_values(request, target))


async def submit(request: PageRequest) -> TrioResponse:
    target, fields = _target(request), request.form.fields
    if ANSWER_FIELD in fields or TYPED_FIELD in fields:
        return await _show_factor(request, target)
    if "code" in fields:
        return await _finish(request, target)
    return await _begin(request, target)


async def _begin(request: PageRequest, target: str | None) -> TrioResponse:
    email = request.form.text("email")
    if not takes_email(request):
        raise plain(404)
    access = request.site.gateway.access(providers.ACCESS)
    offered = None if request.is_console else access.offered(email)
    if offered is not None and "by_code" not in request.form.fields:
        # By the address's domain alone: strangers learn nothing of who is a member.
        return await provider_page(request, offered, email, target)
    try:
        await request.site.gateway.people.sign_in.begin(request.browser, email, request.face.kind)
    except RateLimited as error:
        return await request.wrong(
            _EMAIL, _too_often(request, error), _email_values(request, target)
        )
    except Invalid as error:
        return await request.again(_EMAIL, error, _email_values(request, target))
    return go_on(request, request.http.path, target)


async def _finish(request: PageRequest, target: str | None) -> TrioResponse:
    people = request.site.gateway.people
    try:
        result = await people.sign_in.finish(
            request.browser, request.form.text("code"), request.face.kind
        )
    except (RateLimited, Forbidden) as error:
        return await _refused(request, error, target)
    if isinstance(result, SignedIn):
        return signed_in(request, result, target)
    if isinstance(result, FactorAwaited):
        return go_on(request, request.http.path, target)
    pending = people.sign_in.pending(request.cookie)
    if pending is None or not result.attempts_left:
        gone = request.words("That code no longer works. Ask for a new one.")
        return await request.wrong(_EMAIL, {TOP: gone}, _email_values(request, target))
    wrong = request.words.counted(
        "That is not the code. {n} try is left.",
        "That is not the code. {n} tries are left.",
        result.attempts_left,
        n=result.attempts_left,
    )
    return await request.wrong(_CODE, {"code": wrong}, _code_values(request, pending, target))


def go_on(request: PageRequest, path: str, target: str | None) -> TrioResponse:
    """To the next step of signing in, which knows where the reader goes on to."""
    query = "" if target is None else "?" + urlencode({"next": target})
    return request.go(path + query)


async def _show_factor(request: PageRequest, target: str | None) -> TrioResponse:
    """The second factor after a code, or a passkey alone, which counts as two."""
    people, shown, kind = request.site.gateway.people, shown_factor(request), request.face.kind
    pending = people.sign_in.pending(request.cookie)
    awaits = pending is not None and pending.user_id is not None
    access = request.site.gateway.access(factors.ACCESS)
    try:
        judge = access.finish if awaits else access.by_passkey
        result = await judge(request.browser, shown, kind)
    except (RateLimited, Forbidden) as error:
        faults = _too_often(request, error)
        if awaits:
            return await request.wrong(_FACTOR, faults, _factor_values(request, target))
        return await request.wrong(_EMAIL, faults, _email_values(request, target))
    if isinstance(result, SignedIn):
        return signed_in(request, result, target)
    if not awaits:
        unknown = request.words("This passkey is not known here. Sign in by e-mail.")
        return await request.wrong(_EMAIL, {TOP: unknown}, _email_values(request, target))
    if not result.attempts_left:
        gone = request.words("There were too many tries, or it took too long. Begin again.")
        return await request.wrong(_EMAIL, {TOP: gone}, _email_values(request, target))
    field = ANSWER_FIELD if shown.answer else TYPED_FIELD
    wrong = {field: request.words(WRONG[field])}
    return await request.wrong(_FACTOR, wrong, _factor_values(request, target))


async def _refused(request: PageRequest, error: EngineError, target: str | None) -> TrioResponse:
    faults = _too_often(request, error)
    if isinstance(error, Forbidden):
        faults = {TOP: request.words("No new accounts can be created here at the moment.")}
    pending = request.site.gateway.people.sign_in.pending(request.cookie)
    if pending is None:
        return await request.wrong(_EMAIL, faults, _email_values(request, target))
    return await request.wrong(_CODE, faults, _code_values(request, pending, target))


def _too_often(request: PageRequest, error: EngineError) -> dict[str, Markup]:
    """When again; to an operator also how they get in before that."""
    faults = faults_of(request.words, error, request.plan)
    if isinstance(error, RateLimited) and request.is_console:
        command = "risala user sign-in --console"
        words = request.words("On the machine {command} makes a link at once.", command=command)
        faults[TOP] = Markup("{} {}").format(faults[TOP], words)
    return faults


def signed_in(request: PageRequest, result: SignedIn, target: str | None = None) -> TrioResponse:
    """Sign in, with a new session that nobody can have known before."""
    reply = request.go(target or request.face.home)
    request.cookie_policy.set_cookie(reply, request.cookie_policy.session_cookie, result.token)
    if result.known_as:
        request.cookie_policy.set_cookie(reply, request.cookie_policy.known_cookie, result.known_as)
    request.cookie_policy.drop_cookie(reply, request.cookie_policy.browser_cookie)
    return reply


async def sign_out(request: PageRequest) -> TrioResponse:
    reply = request.go(request.face.sign_in, SIGNED_OUT)
    if request.session is not None:
        await request.site.gateway.people.sessions.sign_out(request.cookie, request.face.kind)
        request.cookie_policy.drop_cookie(reply, request.cookie_policy.session_cookie)
    return reply


async def ask_sign_out(request: PageRequest) -> TrioResponse:
    """For a typed address: signing out needs a form, or any link could do it to the reader."""
    if request.session is None:
        return request.go(request.face.sign_in)
    return await request.page("sign_in/out.html")


async def show_link(request: PageRequest) -> TrioResponse:
    """A button uses the link: programs that scan mails follow links, but press no button."""
    view = _link(request)
    reply = await request.page("sign_in/link.html", status=200 if view else 404, view=view)
    reply.headers["referrer-policy"] = "no-referrer"
    return reply


async def use_link(request: PageRequest) -> TrioResponse:
    people, token = request.site.gateway.people, request.arguments["token"]
    # Invalid links of either face are counted and logged too.
    if _link(request) is not None or people.sign_in.peek_link(token) is None:
        result = await people.sign_in.use_link(token, request.browser, request.face.kind)
        if isinstance(result, FactorAwaited):
            return request.go(request.face.sign_in)
        if result is not None:
            return signed_in(request, result)
    reply = await request.page("sign_in/link.html", status=404, view=None)
    reply.headers["referrer-policy"] = "no-referrer"
    return reply


def _link(request: PageRequest) -> LinkView | None:
    """A valid link into this face; one into the other face is invalid here, and not used up."""
    view = request.site.gateway.people.sign_in.peek_link(request.arguments["token"])
    return view if view is not None and view.kind is request.face.kind else None


def _target(request: PageRequest) -> str | None:
    places = (request.face.home, again_path(request.face.root))
    return safe_next(request.form.text("next"), places)


async def _code_page(request: PageRequest, pending: CodeAsked, target: str | None) -> TrioResponse:
    return await request.page(_CODE, _code_values(request, pending, target))


def _email_values(request: PageRequest, target: str | None) -> dict[str, object]:
    digits, home = SIGN_IN_DIGITS[request.face.kind], request.plan.home
    return {
        "email": request.form.text("email"),
        "next": target,
        "digits": digits,
        "home": country_name(request.words.language, home.code, home.name),
        "demo_elsewhere": demo_elsewhere(request.plan) if has_outbox(request) else None,
        "has_unsent": _has_unsent(request, target),
        "question": question(request),
        "takes_email": takes_email(request),
        "provider": provider_name(request),
    }


def _factor_values(request: PageRequest, target: str | None) -> dict[str, object]:
    return {"next": target, "question": question(request)}


def _code_values(request: PageRequest, pending: CodeAsked, target: str | None) -> dict[str, object]:
    now_ms = request.site.clock.now_ms()
    return {
        "asked": pending,
        "next": target,
        "digits": SIGN_IN_DIGITS[pending.kind],
        "again_in_s": max(0, -(-(pending.again_at - now_ms) // 1000)),
        "has_outbox": has_outbox(request),
        "has_unsent": _has_unsent(request, target),
        "lasts_ms": max(60_000, pending.expires_at - now_ms),
    }


def takes_email(request: PageRequest) -> bool:
    """Whether codes by e-mail let in here, or show once more who one is."""
    if _bound_to(request) is not None:
        return False
    oidc = request.site.settings.people.oidc
    return not request.is_console or oidc.issuer is None or oidc.email_codes


def provider_name(request: PageRequest) -> str | None:
    """What the button of the identity provider names; None: there is none here."""
    oidc = request.site.settings.people.oidc
    if not request.is_console:
        provider = _bound_to(request)
        return None if provider is None else provider.label
    if oidc.issuer is None:
        return None
    return oidc.label or str(request.words("your identity provider"))


def _bound_to(request: PageRequest) -> OfferedProvider | None:
    """The provider of an organization by which the reader came; None: by another way."""
    session = request.session
    if session is None or session.bound_to is None:
        return None
    return request.site.gateway.access(providers.ACCESS).of_organization(session.bound_to)


def _has_unsent(request: PageRequest, target: str | None) -> bool:
    """Whether they come back to a form that they sent in vain."""
    return target == again_path(request.face.root) and find_unsent(request) is not None


def routes(root: str, *, sign_up: bool) -> tuple[PageRoute, ...]:
    """The addresses below ``root``; ``sign_up``: strangers may register too."""
    public = partial(PageRoute, access=PageAccess.PUBLIC)
    post = partial(public, method="POST")
    names = ("sign-in", "sign-up") if sign_up else ("sign-in",)
    return (
        *(public(path=f"{root}/{name}", view=show) for name in names),
        *(post(path=f"{root}/{name}", view=submit) for name in names),
        public(path=f"{root}/sign-out", view=ask_sign_out),
        post(path=f"{root}/sign-out", view=sign_out),
        public(path=f"{root}/sign-in/link/<token>", view=show_link),
        post(path=f"{root}/sign-in/link/<token>", view=use_link),
    )


# What a form shows of a second factor, and what pages need to ask for one.

ANSWER_FIELD: Final = "passkey"
TYPED_FIELD: Final = "factor"
WRONG_CODE: Final = N_("This code is wrong, or was used before.")
WRONG: Final = {
    TYPED_FIELD: WRONG_CODE,
    ANSWER_FIELD: N_("This passkey was not accepted. Try again, or use another one."),
}
"""What to say of a factor that does not fit, by the field that has it."""


def passkey_site(request: PageRequest) -> PasskeySite | None:
    """The pages that a passkey is for; None: browsers allow none here.

    They want a name, not an address; and https, or the name `localhost`.
    """
    origin = request.cookie_policy.origin
    host = urlsplit(origin).hostname or ""
    if (
        not host
        or _is_address(host)
        or (request.cookie_policy.way is not Way.HTTPS and host != "localhost")
    ):
        return None
    return PasskeySite(host, origin)


def shown_factor(request: PageRequest) -> ShownFactor:
    """What the form shows."""
    form = request.form
    return ShownFactor(form.text(TYPED_FIELD), form.text(ANSWER_FIELD), passkey_site(request))


def question(request: PageRequest) -> str | None:
    """What the browser is asked to show a passkey, as JSON; None: there are none here."""
    site = passkey_site(request)
    if site is None:
        return None
    return request.site.gateway.access(factors.ACCESS).question(site, request.cookie)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


# Pages about an organization's own identity provider: the way there, and what a session by it does
# not reach.

_PAGE: Final = "sign_in/provider.html"
_BOUND: Final = "sign_in/bound.html"


async def provider_page(
    request: PageRequest, offered: OfferedProvider, email: str, target: str | None
) -> TrioResponse:
    """The way to a provider, for an address of its domain."""
    return await _page(request, offered, email, target, must=False)


async def to_provider(request: PageRequest, error: ProviderNeeded) -> TrioResponse:
    """For a reader who signed in otherwise: the organization is entered by its provider alone."""
    provider = request.site.gateway.access(ACCESS).of_organization(error.organization_id)
    if provider is None:  # it was removed a moment ago
        return request.go(request.face.home)
    return await _page(request, provider, "", request.http.path, must=True)


async def account_closed(request: PageRequest) -> TrioResponse:
    """For a session by an organization's provider, at what belongs to the account itself."""
    session = request.session
    assert session is not None, "strangers ask for no account"
    if request.http.path == request.face.home and session.places:
        return request.go(f"{request.face.home}/{session.places[0].organization_id}/")
    return await request.page(_BOUND, status=403)


async def _page(
    request: PageRequest, offered: OfferedProvider, email: str, target: str | None, *, must: bool
) -> TrioResponse:
    query = "" if target is None else "?" + urlencode({"next": target})
    values = {
        "name": offered.label,
        "way": f"{request.face.sign_in}/oidc/{offered.organization_id}{query}",
        "email": email,
        "next": target,
        "must": must,
    }
    return await request.page(_PAGE, values, status=403 if must else 200)
