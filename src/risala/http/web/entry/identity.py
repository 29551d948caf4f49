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


async def begin(visit: PageRequest) -> TrioResponse:
    """To the provider; ``?fresh``: to show once more who one is."""
    access, freshens = _access(visit), _freshens(visit)
    try:
        start = await access.begin(_target(visit, visit.form.text("next")), freshens=freshens)
    except IdentityRefused as error:
        return await _refused(visit, error, freshens=freshens)
    reply = visit.go(start.url)
    visit.door.set_cookie(reply, visit.door.flow_cookie, start.flow, days=_FLOW_DAYS)
    return reply


async def back(visit: PageRequest) -> TrioResponse:
    """From the provider."""
    access, form = _access(visit), visit.form
    flow = visit.request.cookies.get(visit.door.flow_cookie, "")
    brought = IdentityReturn(
        flow, form.text("state"), form.text("code"), form.text("error"), form.text("iss")
    )
    freshens, asked = access.read(flow)
    freshens = freshens and visit.session is not None
    target = _target(visit, asked)
    try:
        if freshens:
            assert visit.session is not None, "read just now"
            await access.freshen(visit.session, visit.browser, brought)
            reply = visit.go(target or visit.face.home)
        else:
            reply = await _signed_in(visit, access, brought, target)
    except (IdentityRefused, RateLimited, Conflict) as error:
        reply = await _refused(visit, error, freshens=freshens)
    visit.door.drop_cookie(reply, visit.door.flow_cookie)
    return reply


async def _signed_in(
    visit: PageRequest, access: IdentityAccess, brought: IdentityReturn, target: str | None
) -> TrioResponse:
    result = await access.finish(visit.browser, brought)
    if isinstance(result, SignedIn):
        return signed_in(visit, result, target)
    if isinstance(result, FactorAwaited):
        return go_on(visit, visit.face.sign_in, target)
    raise IdentityRefused(IdentityFault.NOT_BEGUN)


async def _refused(visit: PageRequest, error: Refusal, *, freshens: bool) -> TrioResponse:
    if isinstance(error, IdentityRefused):
        sentence: str | Markup = visit.words(SENTENCES[error.fault])
    else:
        sentence = faults_of(visit.words, error, visit.plan)[TOP]
    root = visit.face.root
    again = way_of(root, visit.arguments.get("whose", "")) + ("?fresh=1" if freshens else "")
    other = fresh_path(root) if freshens else visit.face.sign_in
    return await visit.page(_PAGE, status=403, sentence=sentence, again=again, other=other)


def _access(visit: PageRequest) -> IdentityAccess:
    providers, whose = visit.site.gateway.access(ACCESS), visit.arguments.get("whose")
    access = providers.console() if whose is None else providers.sign_in_of(whose)
    if access is None:
        raise plain(404)
    return access


def _freshens(visit: PageRequest) -> bool:
    return "fresh" in visit.form.fields and visit.session is not None


def _target(visit: PageRequest, asked: str) -> str | None:
    root = visit.face.root
    return safe_next(asked, (visit.face.home, again_path(root), root or "/app"))


def way_of(root: str, organization_id: str) -> str:
    """Where a sign-in begins: in the console there is one provider."""
    return f"{root}/sign-in/oidc" + (f"/{organization_id}" if organization_id else "")


def routes(root: str) -> tuple[PageRoute, ...]:
    """The addresses below ``root``: of the console's provider, else of each organization's."""
    public = partial(PageRoute, access=PageAccess.PUBLIC)
    way = way_of(root, "" if root else "<whose>")
    return (
        public(path=way, view=begin),
        public(path=f"{way}/callback", view=back),
    )
