"""The app of pages: passes a request to its view, and refuses readers without permission.

A request is checked in this order: the connection it came by, who signed in, the organization it is
about (404 where the reader is no member), the role (403), the mark of our form (403), and whether
it was already sent. Only then does a view get it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlencode
from zoneinfo import ZoneInfo

import trio
from markupsafe import Markup
from quart import request as current_request
from quart.wrappers import Request
from quart_trio.wrappers import TrioResponse

from risala.config.model import Settings
from risala.engine.model.callers import Freshness
from risala.engine.model.clock import Clock, SystemClock
from risala.engine.model.errors import (
    AccountClosed,
    ApprovalNeeded,
    Conflict,
    EngineError,
    FactorNeeded,
    Invalid,
    NotFound,
    NotFresh,
    OutcomeUnknown,
    ProviderNeeded,
    Unavailable,
)
from risala.engine.model.people import Language, ReachableOrganization, WebSession
from risala.engine.model.records.people import organizations
from risala.engine.model.records.upkeep.service import WAITING
from risala.engine.model.states import Mode
from risala.http.common.base import JsonApp, id_of_request
from risala.http.common.client_address import ClientAddresses
from risala.http.common.problems import Problem, plain, report
from risala.http.web.assets import PLACE
from risala.http.web.cookie_policy import (
    LANGUAGE_COOKIE,
    THEME_COOKIE,
    Way,
    cookie_policy_of,
    is_own_form,
    is_surely_own_form,
)
from risala.http.web.editing.edit_conflict import NO_PAGES, conflict
from risala.http.web.editing.sent_forms import form_before_file, sent_form
from risala.http.web.entry.sign_in import account_closed, to_provider
from risala.http.web.face import (
    PageAccess,
    WebFace,
    address_of,
    again_path,
    fresh_path,
    security_path,
)
from risala.http.web.files.downloads import Downloads
from risala.http.web.files.uploading import BODY_BYTES_MAX, is_multipart
from risala.http.web.formats import Formats
from risala.http.web.forms import (
    MARK_FIELD,
    ONCE_FIELD,
    UNSENT_AGE_MAX_MS,
    SentForm,
    UnsentForms,
    form_of,
    unmasked,
)
from risala.http.web.languages import N_, language_named, preferred
from risala.http.web.lists import MODE, filters_refused, refused, refused_by
from risala.http.web.live import LiveStreams
from risala.http.web.once import OnceKeys, StaleForm
from risala.http.web.page_request import HEADERS, PageRequest, Site, Theme
from risala.http.web.refusals import (
    ConsoleLocked,
    OperatorRoleTooLow,
    RoleTooLow,
    faults_of,
    refusal_sentence,
)
from risala.http.web.routes import PageRoute
from risala.http.web.templates import Templates

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


FACTOR_NEEDED: Final = N_("You need a second factor here. Set one up first.")
CONSOLE: Final = "operator"
"""First segment of the console's paths; no page if the console has an address of its own."""
_UNSENT_DAYS: Final = UNSENT_AGE_MAX_MS / 86_400_000
_ONLY_HTTPS: Final = ("strict-transport-security", "max-age=31536000")
"""RFC 6797: for a year the browser uses only https for this host. Subdomains are left out: they may
belong to others."""


class WebApp(JsonApp):
    """Answers with pages, errors too."""

    def __init__(
        self,
        gateway: Gateway,
        settings: Settings,
        face: WebFace,
        routes: Sequence[PageRoute],
        *,
        shutdown: trio.Event,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(
            "risala.http.web",
            body_bytes_max=settings.http.body_max_bytes,
            body_timeout_s=settings.http.body_timeout_s,
        )
        self.live = LiveStreams(shutdown)
        self.routes = tuple(routes)
        self.site = Site(
            gateway,
            settings,
            clock or SystemClock(),
            ClientAddresses(settings.http.trusted_proxies),
            Templates(face.templates),
            OnceKeys(),
            UnsentForms(),
            self.live,
            Downloads(),
            face,
            {slug: route.needs for route in routes if (slug := _slug(route))},
        )
        first = {route.path.split("/")[1] for route in routes} | {"static", CONSOLE}
        self._first = {face.root[1:]} if face.root else first
        self._takes_file = tuple(route.pattern for route in routes if route.takes_file)
        self._shown = tuple(
            route.pattern
            for route in routes
            if route.method == "GET" and route.path.rpartition("/")[2] not in NO_PAGES
        )
        for route in routes:
            self._add(route)
        self.add_url_rule(
            f"{PLACE}<name>",
            "static file",
            self.site.templates.static,
            methods=["GET"],
            provide_automatic_options=False,
        )

    def serves(self, path: str) -> bool:
        """Whether a path belongs to a page, or would if the page existed."""
        return path[1:].partition("/")[0] in self._first

    async def attend(self) -> None:
        """End the streams when the service stops."""
        await self.live.run()

    def bytes_max_of(self, request: Request) -> int | None:
        """Only a form with a file may be large."""
        if request.method != "POST" or not is_multipart(request):
            return None
        takes_file = any(each.fullmatch(request.path) for each in self._takes_file)
        return BODY_BYTES_MAX if takes_file else None

    def _add(self, route: PageRoute) -> None:
        async def view(**arguments: str) -> TrioResponse:
            return await self._answer(route, arguments)

        self.add_url_rule(
            route.path, route.name, view, methods=[route.method], provide_automatic_options=False
        )

    async def _answer(self, route: PageRoute, arguments: dict[str, str]) -> TrioResponse:
        request = replace(await self._arrive(_request()), arguments=arguments)
        try:
            if request.cookie_policy.way is Way.PLAIN:
                return self._leave(request, await request.page("plain_http.html", status=403))
            if request.is_locked_out:
                raise ConsoleLocked
            if (turned := await self._turned_away(route, request)) is not None:
                return self._leave(request, turned)
            if route.access.roles:
                request = await self._enter(request, arguments["org"])
                if not request.may(route.access):
                    raise RoleTooLow(route.access)
            elif route.access is PageAccess.OPERATOR:
                request = await self._enter_console(request, may_lack_factor=route.before_factor)
                if not request.can(route.needs):
                    raise OperatorRoleTooLow(request.caller.operator_role)
            if request.is_inside and request.is_shut:
                raise plain(404)
            reply = await self._view(route, request)
        except ProviderNeeded as error:
            reply = await to_provider(request, error)
        except FactorNeeded:
            reply = request.go(security_path(request.face.root), FACTOR_NEEDED)
        except Exception as error:  # noqa: BLE001 -- whatever it is, its reader gets a page
            reply = await self._error(request, error)
        return self._leave(request, reply)

    async def answer_to(self, error: Exception) -> TrioResponse:
        request = await self._arrive(_request())
        parts = request.http.path.split("/")
        if request.session is not None and parts[1] == "app" and len(parts) > 2:
            with suppress(EngineError):
                request = await self._enter(request, parts[2])
        return self._leave(request, await self._error(request, error))

    # -- access

    async def _arrive(self, request: Request) -> PageRequest:
        loaded = await self.site.templates.load()
        settings = self.site.settings
        kind = self.site.face.kind
        policy = cookie_policy_of(request, self.site.addresses, address_of(settings, kind), kind)
        token, session, cookies = await self._session(request, policy.session_cookie)
        if session is None and policy.way is not Way.PLAIN:
            token = request.cookies.get(policy.browser_cookie, "")
            if not token:
                token = self.site.gateway.people.new_token()
                cookies = ((policy.browser_cookie, token),)
        words = loaded.words[self._language(request, session)]
        now_ms = self.site.clock.now_ms()
        notice = request.cookies.get(policy.said_cookie)
        return PageRequest(
            site=self.site,
            http=request,
            request_id=id_of_request(),
            cookie_policy=policy,
            formats=Formats(
                words,
                ZoneInfo(settings.plan.home.time_zone),
                settings.service.currency,
                now_ms,
                settings.plan,
            ),
            theme=Theme.named(request.cookies.get(THEME_COOKIE)),
            cookie=token,
            session=session,
            mode=Mode.TEST if request.args.get("mode") == "test" else Mode.LIVE,
            notice=None if notice is None else words(unquote(notice)),
            cookies=cookies,
        )

    async def _session(
        self, request: Request, name: str
    ) -> tuple[str, WebSession | None, tuple[tuple[str, str], ...]]:
        people, token = self.site.gateway.people, request.cookies.get(name, "")
        session = people.sessions.find(token, self.site.face.kind) if token else None
        if session is None or not session.stale:
            return token, session, ()
        fresh = await people.sessions.rotate(token, self.site.face.kind)
        return (token, session, ()) if fresh is None else (fresh, session, ((name, fresh),))

    def _language(self, request: Request, session: WebSession | None) -> Language:
        chosen = language_named(request.cookies.get(LANGUAGE_COOKIE))
        if chosen is not None:
            return chosen
        return preferred(request.accept_languages) if session is None else session.user.language

    async def _turned_away(self, route: PageRoute, request: PageRequest) -> TrioResponse | None:
        """The redirect of a reader who must sign in first; a form they sent is kept meanwhile."""
        if route.access is PageAccess.PUBLIC:
            return None
        is_console = route.access is PageAccess.OPERATOR
        if request.session is not None and (request.user.operator or not is_console):
            return None
        if route.method == "POST":
            return await self._keep_unsent(request)
        query = request.http.query_string.decode("latin-1")
        target = request.http.path + (f"?{query}" if query else "")
        return request.go(f"{self.site.face.sign_in}?" + urlencode({"next": target}))

    async def _keep_unsent(self, request: PageRequest) -> TrioResponse:
        """Send a reader who posted without a session to sign in, and then back to their form.

        Raises:
            Problem: it is no form.
        """
        face = self.site.face
        if request.session is not None or not is_surely_own_form(
            request.http, request.cookie_policy
        ):
            return request.go(face.sign_in)
        target = f"{face.sign_in}?" + urlencode({"next": again_path(face.root)})
        form = await form_before_file(request)
        kept = self._store_unsent(request, form, target)
        return request.go(face.sign_in) if kept is None else kept

    def _store_unsent(
        self, request: PageRequest, form: SentForm, target: str, *, asked_fresh: bool = False
    ) -> TrioResponse | None:
        """Keep a form for this browser, do nothing else with it, and redirect to ``target``. None:
        the form is too long to keep."""
        now_ms = self.site.clock.now_ms()
        query = request.http.query_string.decode("latin-1")
        name = self.site.unsent.keep(
            request.http.path + (f"?{query}" if query else ""),
            form,
            now_ms,
            in_session=request.session is not None,
            asked_fresh=asked_fresh,
        )
        if name is None:
            return None
        reply = request.go(target)
        request.cookie_policy.set_cookie(
            reply, request.cookie_policy.unsent_cookie, name, days=_UNSENT_DAYS
        )
        return reply

    async def _enter(self, request: PageRequest, organization_id: str) -> PageRequest:
        """The request of a member.

        Raises:
            NotFound: the organization does not exist, or the reader is no member.
        """
        assert request.session is not None, "whoever did not sign in was sent away"
        request = replace(request, place=_organization_of(request.session, organization_id))
        own = await request.ask_here(organizations.SHOW)
        formats = replace(request.formats, zone=ZoneInfo(own.time_zone), currency=own.currency)
        return replace(request, _organization=own, formats=formats)

    async def _enter_console(self, request: PageRequest, *, may_lack_factor: bool) -> PageRequest:
        """The request of an operator, with what their role allows and what waits for a decision.

        Raises:
            FactorNeeded: they need a second factor, and have none.
        """
        try:
            waiting = await request.ask(WAITING)
        except FactorNeeded:
            if not may_lack_factor:
                raise
            return request
        permitted = await self.site.gateway.permitted(request.caller)
        return replace(request, waiting=waiting, permitted=permitted)

    # -- answers

    async def _view(self, route: PageRoute, request: PageRequest) -> TrioResponse:
        if route.method == "GET":
            query = request.http.query_string.decode("latin-1")
            return await self._done(route, replace(request, form=form_of(query)))
        if not is_own_form(request.http, request.cookie_policy):
            raise Problem(403, "This form was not sent by a page of ours.")
        request = replace(request, form=await sent_form(request, takes_file=route.takes_file))
        mark = unmasked(request.form.text(MARK_FIELD))
        if not self.site.gateway.people.derived.is_form_token(request.cookie, mark):
            # The page may be from an earlier session: its reader signed in again elsewhere.
            kept = None
            if (
                mark
                and route.access is not PageAccess.PUBLIC
                and is_surely_own_form(request.http, request.cookie_policy)
            ):
                again = again_path(self.site.face.root)
                kept = self._store_unsent(request, request.form, again)
            if kept is None:
                raise Problem(403, "This form was not sent by a page of ours.")
            return kept
        return await self._done(route, request)

    async def _done(self, route: PageRoute, request: PageRequest) -> TrioResponse:
        """The view's answer. A reader who has to show once more who they are is sent to do that,
        and then back: with their form, if they sent one."""
        filters = (*route.filters, MODE) if route.filters else ()
        if unknown := refused(filters, request.form, request.formats):
            return await filters_refused(request, unknown)
        try:
            if route.fresh and request.caller.freshness is Freshness.STALE:
                raise NotFresh
            return await (self._once(route, request) if route.once else route.view(request))
        except Invalid as error:
            faults = faults_of(request.words, error, request.plan)
            unknown = refused_by(error, filters, request.form, request.words, faults)
            if not unknown:
                raise
            return await filters_refused(request, unknown)
        except NotFresh:
            root, kept = request.face.root, None
            if route.method == "POST":
                there = f"{fresh_path(root)}?" + urlencode({"next": again_path(root)})
                kept = self._store_unsent(request, request.form, there, asked_fresh=True)
            target = request.here if route.method == "GET" else request.face.home
            return kept or request.go(f"{fresh_path(root)}?" + urlencode({"next": target}))

    async def _once(self, route: PageRoute, request: PageRequest) -> TrioResponse:
        keys, key = self.site.once, request.form.text(ONCE_FIELD)
        while (use := keys.find(request.user.id, key, self.site.clock.now_ms())) is not None:
            await use.over.wait()
            if keys.find(request.user.id, key, self.site.clock.now_ms()) is use:
                return request.go(use.location or request.http.path)
        use = keys.begin(key)
        try:
            reply = await route.view(request)
        except (EngineError, Problem) as error:
            if not isinstance(error, OutcomeUnknown):
                keys.give_back(key)
            raise
        else:
            use.location = reply.headers.get("location")
            if reply.status_code >= HTTPStatus.BAD_REQUEST:
                keys.give_back(key)
            return reply
        finally:
            use.over.set()

    async def _error(self, request: PageRequest, error: BaseException) -> TrioResponse:
        if isinstance(error, ApprovalNeeded):
            return request.asked()
        if isinstance(error, StaleForm | Conflict):
            return await conflict(request, error, self._shown)
        if isinstance(error, AccountClosed):
            return await account_closed(request)
        problem = report(error, request.request_id)
        sentence: Markup | None = None
        if isinstance(error, EngineError) and not isinstance(error, NotFound | Unavailable):
            sentence = refusal_sentence(request.words, error)
        reply = await request.page(
            "error.html", status=problem.status, error_status=problem.status, sentence=sentence
        )
        for name, value in problem.headers.items():
            reply.headers[name] = value
        return reply

    def _leave(self, request: PageRequest, reply: TrioResponse) -> TrioResponse:
        for name, value in HEADERS.items():
            reply.headers.setdefault(name, value)
        if request.cookie_policy.way is Way.HTTPS:
            reply.headers.setdefault(*_ONLY_HTTPS)
        taken = {name for name, _ in request.cookies if _sets(reply, name)}
        for name, value in request.cookies:
            if name not in taken:
                request.cookie_policy.set_cookie(reply, name, value)
        if request.notice is not None and reply.status_code == HTTPStatus.OK:
            request.cookie_policy.drop_cookie(reply, request.cookie_policy.said_cookie)
        return reply


def _request() -> Request:
    return current_request._get_current_object()  # type: ignore[attr-defined, no-any-return]


def _sets(reply: TrioResponse, name: str) -> bool:
    """Whether a view has set a cookie itself, so that it must not be set otherwise."""
    return any(each.startswith(f"{name}=") for each in reply.headers.getlist("set-cookie"))


def _slug(route: PageRoute) -> str:
    """The page name of a route of an organization or of the console; empty for other routes."""
    inside = route.access.roles or route.access is PageAccess.OPERATOR
    page = "/".join(route.path.split("/")[3 if route.access.roles else 2 :])
    return page if route.method == "GET" and inside and "<" not in page else ""


def _organization_of(session: WebSession, organization_id: str) -> ReachableOrganization:
    for place in session.places:
        if place.organization_id == organization_id:
            return place
    raise NotFound("There is no such organization.")
