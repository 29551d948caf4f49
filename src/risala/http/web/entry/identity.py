"""Sign in at an identity provider: there and back. Both ways are links that the browser follows,
as a form may lead to pages of ours alone."""

from __future__ import annotations

from functools import partial
from typing import Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.features.providers.records import ACCESS, IdentityAccess, IdentityReturn
from risala.engine.model.errors import (
    Conflict,
    IdentityFault,
    IdentityRefused,
    RateLimited,
    Refusal,
)
from risala.engine.model.people import FactorAwaited, SignedIn
from risala.engine.rules.people.lifetimes import CODE_MS
from risala.http.common.problems import plain
from risala.http.web.cookie_policy import safe_next
from risala.http.web.entry.sign_in import go_on, signed_in
from risala.http.web.face import PageAccess, again_path, fresh_path
from risala.http.web.languages import N_
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import TOP, faults_of
from risala.http.web.routes import PageRoute

_PAGE: Final = "sign_in/identity.html"
_FLOW_DAYS: Final = CODE_MS / 86_400_000
SENTENCES: Final = {
    IdentityFault.CANCELLED: N_("You stopped the sign-in there. Nothing was done."),
    IdentityFault.NOT_BEGUN: N_(
        "This sign-in took too long, was used already, or began in another browser. Begin again."
    ),
    IdentityFault.UNREACHABLE: N_(
        "Your identity provider does not answer at the moment. Try again in a minute."
    ),
    IdentityFault.MISSET: N_(
        "Your identity provider and this service do not fit together. Tell the people who run"
        " this service: the log says more."
    ),
    IdentityFault.INVALID: N_(
        "The answer of your identity provider is not valid. Tell the people who run this"
        " service: the log says more."
    ),
    IdentityFault.CLOCK: N_(
        "The clocks of this machine and of your identity provider differ. Tell the people who"
        " run this service."
    ),
    IdentityFault.NOT_VERIFIED: N_(
        "Your identity provider has not verified your e-mail address, so you cannot sign in"
        " with it."
    ),
    IdentityFault.DOMAIN: N_(
        "Your e-mail address is of a domain that cannot sign in here this way."
    ),
    IdentityFault.NO_ROLE: N_(
        "Your identity provider gives you no role here. Ask the people who run it to put"
        " you into a group."
    ),
    IdentityFault.NOT_OPERATOR: N_("You are not an operator of this service."),
    IdentityFault.OTHER_ACCOUNT: N_(
        "Your e-mail address belongs to another account of your identity provider here. Ask an"
        " operator to reset your sign-in."
    ),
    IdentityFault.OTHER_PERSON: N_("You used a different account there. Use the same account."),
    IdentityFault.STALE: N_(
        "Your identity provider did not ask you to sign in again, or you need your second factor"
        " here."
    ),
    IdentityFault.ONE_FACTOR: N_(
        "This organization asks for two factors, and your identity provider did not say that you"
        " showed two."
    ),
}
"""What a person reads who is not let in."""


async def begin(request: PageRequest) -> TrioResponse:
    """To the provider; ``?fresh``: to show once more who one is."""
    access, freshens = _access(request), _freshens(request)
    try:
        start = await access.begin(_target(request, request.form.text("next")), freshens=freshens)
    except IdentityRefused as error:
        return await _refused(request, error, freshens=freshens)
    reply = request.go(start.url)
    request.cookie_policy.set_cookie(
        reply, request.cookie_policy.flow_cookie, start.flow, days=_FLOW_DAYS
    )
    return reply


async def back(request: PageRequest) -> TrioResponse:
    """From the provider."""
    access, form = _access(request), request.form
    flow = request.http.cookies.get(request.cookie_policy.flow_cookie, "")
    brought = IdentityReturn(
        flow, form.text("state"), form.text("code"), form.text("error"), form.text("iss")
    )
    freshens, next_path = access.read(flow)
    freshens = freshens and request.session is not None
    target = _target(request, next_path)
    try:
        if freshens:
            assert request.session is not None, "read just now"
            await access.freshen(request.session, request.browser, brought)
            reply = request.go(target or request.face.home)
        else:
            reply = await _signed_in(request, access, brought, target)
    except (IdentityRefused, RateLimited, Conflict) as error:
        reply = await _refused(request, error, freshens=freshens)
    request.cookie_policy.drop_cookie(reply, request.cookie_policy.flow_cookie)
    return reply


async def _signed_in(
    request: PageRequest, access: IdentityAccess, brought: IdentityReturn, target: str | None
) -> TrioResponse:
    result = await access.finish(request.browser, brought)
    if isinstance(result, SignedIn):
        return signed_in(request, result, target)
    if isinstance(result, FactorAwaited):
        return go_on(request, request.face.sign_in, target)
    raise IdentityRefused(IdentityFault.NOT_BEGUN)


async def _refused(request: PageRequest, error: Refusal, *, freshens: bool) -> TrioResponse:
    if isinstance(error, IdentityRefused):
        sentence: str | Markup = request.words(SENTENCES[error.fault])
    else:
        sentence = faults_of(request.words, error, request.plan)[TOP]
    root = request.face.root
    again = way_of(root, request.arguments.get("whose", "")) + ("?fresh=1" if freshens else "")
    other = fresh_path(root) if freshens else request.face.sign_in
    return await request.page(_PAGE, status=403, sentence=sentence, again=again, other=other)


def _access(request: PageRequest) -> IdentityAccess:
    providers, whose = request.site.gateway.access(ACCESS), request.arguments.get("whose")
    access = providers.console() if whose is None else providers.sign_in_of(whose)
    if access is None:
        raise plain(404)
    return access


def _freshens(request: PageRequest) -> bool:
    return "fresh" in request.form.fields and request.session is not None


def _target(request: PageRequest, next_path: str) -> str | None:
    root = request.face.root
    return safe_next(next_path, (request.face.home, again_path(root), root or "/app"))


def way_of(root: str, organization_id: str) -> str:
    """The address where a sign-in begins: in the console there is one provider."""
    return f"{root}/sign-in/oidc" + (f"/{organization_id}" if organization_id else "")


def routes(root: str) -> tuple[PageRoute, ...]:
    """The addresses below ``root``: of the console's provider, else of each organization's."""
    public = partial(PageRoute, access=PageAccess.PUBLIC)
    way = way_of(root, "" if root else "<whose>")
    return (
        public(path=way, view=begin),
        public(path=f"{way}/callback", view=back),
    )
