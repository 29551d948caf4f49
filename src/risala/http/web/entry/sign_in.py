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
from risala.engine.features.providers.records import OfferedProvider
from risala.engine.model.errors import EngineError, Forbidden, Invalid, RateLimited
from risala.engine.model.people import CodeAsked, FactorAwaited, LinkView, SignedIn
from risala.engine.rules.people.lifetimes import SIGN_IN_DIGITS
from risala.http.common.problems import plain
from risala.http.web.cookie_policy import Way, safe_next
from risala.http.web.entry.outbox import has_outbox
from risala.http.web.entry.provider_pages import provider_page
from risala.http.web.entry.unsent import find_unsent
from risala.http.web.face import PageAccess, again_path
from risala.http.web.languages import N_, country_name
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, faults_of
from risala.http.web.routes import PageRoute

SIGNED_OUT: Final = N_("You are signed out.")
_EMAIL, _CODE = "sign_in/email.html", "sign_in/code.html"
_FACTOR = "sign_in/factor.html"


async def show(visit: PageRequest) -> TrioResponse:
    """``/sign-in`` and ``/sign-up``: the same two steps under two names."""
    target = _target(visit)
    if visit.session is not None:
        return visit.go(target or visit.face.home)
    asked = visit.site.gateway.people.pending(visit.cookie)
    if asked is not None and "another" not in visit.form.fields:
        if asked.user_id is not None:
            return await visit.page(_FACTOR, _factor_values(visit, target))
        return await _code_page(visit, asked, target)
    return await visit.page(_EMAIL, _email_values(visit, target))


async def submit(visit: PageRequest) -> TrioResponse:
    target, fields = _target(visit), visit.form.fields
    if ANSWER_FIELD in fields or TYPED_FIELD in fields:
        return await _show_factor(visit, target)
    if "code" in fields:
        return await _finish(visit, target)
    return await _begin(visit, target)


async def _begin(visit: PageRequest, target: str | None) -> TrioResponse:
    email = visit.form.text("email")
    if not takes_email(visit):
        raise plain(404)
    access = visit.site.gateway.access(providers.ACCESS)
    offered = None if visit.is_console else access.offered(email)
    if offered is not None and "by_code" not in visit.form.fields:
        # By the address's domain alone: strangers learn nothing of who is a member.
        return await provider_page(visit, offered, email, target)
    try:
        await visit.site.gateway.people.begin(visit.browser, email, visit.face.kind)
    except RateLimited as error:
        return await visit.wrong(_EMAIL, _too_often(visit, error), _email_values(visit, target))
    except Invalid as error:
        return await visit.again(_EMAIL, error, _email_values(visit, target))
    return go_on(visit, visit.request.path, target)


async def _finish(visit: PageRequest, target: str | None) -> TrioResponse:
    people = visit.site.gateway.people
    try:
        result = await people.finish(visit.browser, visit.form.text("code"), visit.face.kind)
    except (RateLimited, Forbidden) as error:
        return await _refused(visit, error, target)
    if isinstance(result, SignedIn):
        return signed_in(visit, result, target)
    if isinstance(result, FactorAwaited):
        return go_on(visit, visit.request.path, target)
    asked = people.pending(visit.cookie)
    if asked is None or not result.attempts_left:
        gone = visit.words("That code no longer works. Ask for a new one.")
        return await visit.wrong(_EMAIL, {TOP: gone}, _email_values(visit, target))
    wrong = visit.words.counted(
        "That is not the code. {n} try is left.",
        "That is not the code. {n} tries are left.",
        result.attempts_left,
        n=result.attempts_left,
    )
    return await visit.wrong(_CODE, {"code": wrong}, _code_values(visit, asked, target))


def go_on(visit: PageRequest, path: str, target: str | None) -> TrioResponse:
    """To the next step of signing in, which knows where the reader goes on to."""
    query = "" if target is None else "?" + urlencode({"next": target})
    return visit.go(path + query)


async def _show_factor(visit: PageRequest, target: str | None) -> TrioResponse:
    """The second factor after a code, or a passkey alone, which counts as two."""
    people, shown, kind = visit.site.gateway.people, shown_factor(visit), visit.face.kind
    asked = people.pending(visit.cookie)
    awaits = asked is not None and asked.user_id is not None
    access = visit.site.gateway.access(factors.ACCESS)
    try:
        judge = access.finish if awaits else access.by_passkey
        result = await judge(visit.browser, shown, kind)
    except (RateLimited, Forbidden) as error:
        faults = _too_often(visit, error)
        if awaits:
            return await visit.wrong(_FACTOR, faults, _factor_values(visit, target))
        return await visit.wrong(_EMAIL, faults, _email_values(visit, target))
    if isinstance(result, SignedIn):
        return signed_in(visit, result, target)
    if not awaits:
        told = visit.words("This passkey is not known here. Sign in by e-mail.")
        return await visit.wrong(_EMAIL, {TOP: told}, _email_values(visit, target))
    if not result.attempts_left:
        gone = visit.words("There were too many tries, or it took too long. Begin again.")
        return await visit.wrong(_EMAIL, {TOP: gone}, _email_values(visit, target))
    field = ANSWER_FIELD if shown.answer else TYPED_FIELD
    wrong = {field: visit.words(WRONG[field])}
    return await visit.wrong(_FACTOR, wrong, _factor_values(visit, target))


async def _refused(visit: PageRequest, error: EngineError, target: str | None) -> TrioResponse:
    faults = _too_often(visit, error)
    if isinstance(error, Forbidden):
        faults = {TOP: visit.words("No new accounts can be created here at the moment.")}
    asked = visit.site.gateway.people.pending(visit.cookie)
    if asked is None:
        return await visit.wrong(_EMAIL, faults, _email_values(visit, target))
    return await visit.wrong(_CODE, faults, _code_values(visit, asked, target))


def _too_often(visit: PageRequest, error: EngineError) -> dict[str, Markup]:
    """When again; to an operator also how they get in before that."""
    faults = faults_of(visit.words, error, visit.plan)
    if isinstance(error, RateLimited) and visit.is_console:
        command = "risala user sign-in --console"
        words = visit.words("On the machine {command} makes a link at once.", command=command)
        faults[TOP] = Markup("{} {}").format(faults[TOP], words)
    return faults


def signed_in(visit: PageRequest, result: SignedIn, target: str | None = None) -> TrioResponse:
    """Sign in, with a new session that nobody can have known before."""
    reply = visit.go(target or visit.face.home)
    visit.door.set_cookie(reply, visit.door.session_cookie, result.token)
    if result.known_as:
        visit.door.set_cookie(reply, visit.door.known_cookie, result.known_as)
    visit.door.drop_cookie(reply, visit.door.browser_cookie)
    return reply


async def sign_out(visit: PageRequest) -> TrioResponse:
    reply = visit.go(visit.face.sign_in, SIGNED_OUT)
    if visit.session is not None:
        await visit.site.gateway.people.sign_out(visit.cookie, visit.face.kind)
        visit.door.drop_cookie(reply, visit.door.session_cookie)
    return reply


async def ask_sign_out(visit: PageRequest) -> TrioResponse:
    """For a typed address: signing out needs a form, or any link could do it to the reader."""
    if visit.session is None:
        return visit.go(visit.face.sign_in)
    return await visit.page("sign_in/out.html")


async def show_link(visit: PageRequest) -> TrioResponse:
    """A button uses the link: programs that scan mails follow links, but press no button."""
    view = _link(visit)
    reply = await visit.page("sign_in/link.html", status=200 if view else 404, view=view)
    reply.headers["referrer-policy"] = "no-referrer"
    return reply


async def use_link(visit: PageRequest) -> TrioResponse:
    people, token = visit.site.gateway.people, visit.arguments["token"]
    # Invalid links of either face are counted and logged too.
    if _link(visit) is not None or people.peek_link(token) is None:
        result = await people.use_link(token, visit.browser, visit.face.kind)
        if isinstance(result, FactorAwaited):
            return visit.go(visit.face.sign_in)
        if result is not None:
            return signed_in(visit, result)
    reply = await visit.page("sign_in/link.html", status=404, view=None)
    reply.headers["referrer-policy"] = "no-referrer"
    return reply


def _link(visit: PageRequest) -> LinkView | None:
    """A valid link into this face; one into the other face is invalid here, and not used up."""
    view = visit.site.gateway.people.peek_link(visit.arguments["token"])
    return view if view is not None and view.kind is visit.face.kind else None


def _target(visit: PageRequest) -> str | None:
    places = (visit.face.home, again_path(visit.face.root))
    return safe_next(visit.form.text("next"), places)


async def _code_page(visit: PageRequest, asked: CodeAsked, target: str | None) -> TrioResponse:
    return await visit.page(_CODE, _code_values(visit, asked, target))


def _email_values(visit: PageRequest, target: str | None) -> dict[str, object]:
    digits, home = SIGN_IN_DIGITS[visit.face.kind], visit.plan.home
    return {
        "email": visit.form.text("email"),
        "next": target,
        "digits": digits,
        "home": country_name(visit.words.language, home.code, home.name),
        "demo_elsewhere": demo_elsewhere(visit.plan) if has_outbox(visit) else None,
        "has_unsent": _has_unsent(visit, target),
        "question": question(visit),
        "takes_email": takes_email(visit),
        "provider": provider_name(visit),
    }


def _factor_values(visit: PageRequest, target: str | None) -> dict[str, object]:
    return {"next": target, "question": question(visit)}


def _code_values(visit: PageRequest, asked: CodeAsked, target: str | None) -> dict[str, object]:
    now_ms = visit.site.clock.now_ms()
    return {
        "asked": asked,
        "next": target,
        "digits": SIGN_IN_DIGITS[asked.kind],
        "again_in_s": max(0, -(-(asked.again_at - now_ms) // 1000)),
        "has_outbox": has_outbox(visit),
        "has_unsent": _has_unsent(visit, target),
        "lasts_ms": max(60_000, asked.expires_at - now_ms),
    }


def takes_email(visit: PageRequest) -> bool:
    """Whether codes by e-mail let in here, or show once more who one is."""
    if _bound_to(visit) is not None:
        return False
    oidc = visit.site.settings.people.oidc
    return not visit.is_console or oidc.issuer is None or oidc.email_codes


def provider_name(visit: PageRequest) -> str | None:
    """What the button of the identity provider names; None: there is none here."""
    oidc = visit.site.settings.people.oidc
    if not visit.is_console:
        found = _bound_to(visit)
        return None if found is None else found.label
    if oidc.issuer is None:
        return None
    return oidc.label or str(visit.words("your identity provider"))


def _bound_to(visit: PageRequest) -> OfferedProvider | None:
    """The provider of an organization by which the reader came; None: by another way."""
    session = visit.session
    if session is None or session.bound_to is None:
        return None
    return visit.site.gateway.access(providers.ACCESS).of_organization(session.bound_to)


def _has_unsent(visit: PageRequest, target: str | None) -> bool:
    """Whether they come back to a form that they sent in vain."""
    return target == again_path(visit.face.root) and find_unsent(visit) is not None


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


def passkey_site(visit: PageRequest) -> PasskeySite | None:
    """The pages that a passkey is for; None: browsers allow none here.

    They want a name, not an address; and https, or the name `localhost`.
    """
    origin = visit.door.origin
    host = urlsplit(origin).hostname or ""
    if not host or _is_address(host) or (visit.door.way is not Way.HTTPS and host != "localhost"):
        return None
    return PasskeySite(host, origin)


def shown_factor(visit: PageRequest) -> ShownFactor:
    """What the form shows."""
    form = visit.form
    return ShownFactor(form.text(TYPED_FIELD), form.text(ANSWER_FIELD), passkey_site(visit))


def question(visit: PageRequest) -> str | None:
    """What the browser is asked to show a passkey, as JSON; None: there are none here."""
    site = passkey_site(visit)
    if site is None:
        return None
    return visit.site.gateway.access(factors.ACCESS).question(site, visit.cookie)


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
