"""One request for a page: the reader, the language, and the answers of the view."""

from __future__ import annotations

import gzip
from collections.abc import AsyncGenerator, Mapping
from dataclasses import field
from enum import StrEnum
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, urlencode

from markupsafe import Markup
from quart.wrappers import Request
from quart_trio.wrappers import TrioResponse

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.model.callers import Caller, OperatorRole, Role
from risala.engine.model.clock import Clock
from risala.engine.model.errors import ApprovalNeeded, EngineError, NotFound
from risala.engine.model.features import features
from risala.engine.model.following import What
from risala.engine.model.people import Browser, ReachableOrganization, SessionKind, User, WebSession
from risala.engine.model.records.asks import Ask, Versioned
from risala.engine.model.records.ledger import PartsToday
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.upkeep.service import Deciding
from risala.engine.model.states import Mode
from risala.http.common.client_address import (
    NETWORK_PREFIX_V6,
    PROVIDER_PREFIX_V6,
    ClientAddresses,
    bucket_of,
    network_of,
)
from risala.http.web.cookie_policy import CookiePolicy
from risala.http.web.face import NavGroup, PageAccess, Rail, WebFace, address_of
from risala.http.web.files.downloads import Download, Downloads, TablePart
from risala.http.web.files.spreadsheet import FileForm
from risala.http.web.formats import Formats
from risala.http.web.forms import MARK_FIELD, ONCE_FIELD, SentForm, UnsentForms, masked
from risala.http.web.languages import N_, Words, countries_of, in_language
from risala.http.web.live import BEAT_S, Draw, LiveStreams
from risala.http.web.once import OnceKeys
from risala.http.web.refusals import TOP, done_by, faults_of
from risala.http.web.templates import Templates, render
from risala.sms.numbering.plan import NumberingPlan

if TYPE_CHECKING:
    from risala.engine.gateway.gateway import Gateway


R = TypeVar("R")
SERVED_SHOWN: Final = 4
"""Countries that the foot of a page names: they stand on one line of a phone."""
POLICY: Final = "default-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
HEADERS: Final = {
    "content-security-policy": POLICY,
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
"""The headers of every page."""
ASKED: Final = N_("This needs a second operator. It is asked for, and waits here.")
_SAID_DAYS: Final = 60 / 86_400
"""A minute: the sentence is shown by the very next page."""
_COMPRESSED_FROM: Final = 1000
"""Bytes; shorter answers fit a packet anyway."""


class Theme(StrEnum):
    AUTO = "auto"
    LIGHT = "light"
    DARK = "dark"

    @property
    def media(self) -> str:
        """When the dark sheet holds: never on paper."""
        return _MEDIA[self]

    @classmethod
    def named(cls, name: str | None) -> Theme:
        """The theme of a cookie."""
        return next((each for each in cls if each == name), cls.AUTO)


_MEDIA: Final = {
    Theme.AUTO: "screen and (prefers-color-scheme: dark)",
    Theme.LIGHT: "not all",
    Theme.DARK: "screen",
}


@dataclass(frozen=True, slots=True)
class Site:
    """The objects that all pages share."""

    gateway: Gateway
    settings: Settings
    clock: Clock
    addresses: ClientAddresses
    templates: Templates
    once: OnceKeys
    unsent: UnsentForms
    live: LiveStreams
    downloads: Downloads
    face: WebFace
    slugs: Mapping[str, Ask[Any] | None]
    """The existing pages of an organization, such as ``keys`` and ``verify/settings``, or of the
    console, with the operation that each needs."""
    rails: dict[tuple[Role | OperatorRole | None, bool], Rail] = field(default_factory=dict)
    """The rail by the reader's role, in the organization or in the console, and by who pays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """The input of a view, with its possible answers."""

    site: Site
    http: Request = field(repr=False)
    request_id: str
    cookie_policy: CookiePolicy
    formats: Formats
    theme: Theme
    cookie: str = field(repr=False)
    """The session's, else the browser's cookie: the marks in its forms are bound to it."""
    session: WebSession | None
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The parts of the path that are in angle brackets in the route."""
    form: SentForm = field(default_factory=SentForm, repr=False)
    """The fields of a POST; for a GET those of its address."""
    place: ReachableOrganization | None = None
    _organization: Organization | None = None
    """None: the page is of no organization."""
    waiting: Deciding | None = None
    """The things that wait for an operator; None for other readers."""
    permitted: frozenset[str] = frozenset()
    """The operations that an operator's role allows; empty for other readers."""
    mode: Mode = Mode.LIVE
    """Which data the address asks for."""
    notice: Markup | None = None
    """A sentence from the previous page: shown once."""
    cookies: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """To be set with the answer."""
    _marks: dict[str, Markup] = field(default_factory=dict, repr=False)

    # -- the reader

    @property
    def words(self) -> Words:
        return self.formats.words

    @property
    def user(self) -> User:
        """The session of a page that needs one."""
        assert self.session is not None, "the route lets strangers in"
        return self.session.user

    @property
    def organization_id(self) -> str:
        assert self.place is not None, "the route is of no organization"
        return self.place.organization_id

    @property
    def organization(self) -> Organization:
        assert self._organization is not None, "the route is of no organization"
        return self._organization

    @property
    def _place_id(self) -> str | None:
        """The organization that is shown; None: the operator sees all of them."""
        return None if self.is_console else self.organization_id

    @property
    def face(self) -> WebFace:
        return self.site.face

    @property
    def is_console(self) -> bool:
        return self.face.kind is SessionKind.OPERATOR

    @property
    def is_locked_out(self) -> bool:
        """Whether the console is locked to another address than the reader's."""
        lock = self.site.gateway.console_lock() if self.is_console else None
        if lock is None:
            return False
        try:
            return ip_address(self.browser.address) not in ip_network(lock)
        except ValueError:
            return True

    @property
    def is_inside(self) -> bool:
        """Whether the rail is drawn: of an organization, or of the console."""
        return self.place is not None or self.waiting is not None

    @property
    def public_url(self) -> str | None:
        """The public address of these pages, if it is set."""
        return address_of(self.site.settings, self.face.kind)

    @property
    def base_url(self) -> str:
        """Our address for the reader's programs: never from a foreign ``Host`` header."""
        site = self.site
        return (
            site.settings.http.public_url
            or self.cookie_policy.origin
            or site.gateway.people.public_url
        )

    @property
    def browser(self) -> Browser:
        request = self.http
        client = request.scope.get("client")
        forwarded = request.headers.getlist("x-forwarded-for")
        address = self.site.addresses.of(client[0] if client else None, forwarded)
        return Browser(
            token=self.cookie,
            bucket=bucket_of(address),
            address=str(address or ""),
            agent=request.headers.get("user-agent", ""),
            language=self.words.language,
            network=network_of(address, NETWORK_PREFIX_V6),
            provider=network_of(address, PROVIDER_PREFIX_V6),
            known_as=request.cookies.get(self.cookie_policy.known_cookie, ""),
        )

    @property
    def caller(self) -> Caller:
        """The actor: the operator, the member of the organization, else the user."""
        assert self.session is not None, "the route lets strangers in"
        people = self.site.gateway.people
        if self.is_console:
            return people.sessions.operator_caller(self.session)
        if self.place is None:
            return people.sessions.user_caller(self.session)
        return people.sessions.caller(self.session, self.place.organization_id)

    async def perform(self, operation: str, /, **arguments: object) -> dict[str, Any]:
        """Do an operation for the reader, with the organization of the page if it needs one.

        Raises:
            Refusal, Unavailable: as :meth:`risala.engine.gateway.gateway.Gateway.perform` does.
        """
        return await self.site.gateway.perform(operation, arguments, self.caller)

    async def ask(self, ask: Ask[R], /, **arguments: object) -> R:
        """The result of an operation for the reader.

        Raises:
            Refusal, Unavailable: as :meth:`risala.engine.gateway.gateway.Gateway.ask` does.
        """
        return (await self.ask_to_edit(ask, **arguments)).value

    async def ask_here(self, ask: Ask[R], /, **arguments: object) -> R:
        """:meth:`ask` with the ``organization_id`` that the page is of."""
        return await self.ask(ask, organization_id=self.organization_id, **arguments)

    async def ask_to_edit(self, ask: Ask[R], /, **arguments: object) -> Versioned[R]:
        """:meth:`ask` for a page with a form that edits the thing: with its version."""
        return await self.site.gateway.ask(ask, arguments, self.caller)

    async def ask_own(self, ask: Ask[R], /, **arguments: object) -> R:
        """:meth:`ask` for the reader's own account."""
        assert self.session is not None, "the route lets strangers in"
        caller = self.site.gateway.people.sessions.user_caller(self.session)
        return (await self.site.gateway.ask(ask, arguments, caller)).value

    async def of_features(self, place: str, *about: object) -> dict[str, Any]:
        """What features show at a place of a page that is of none of them."""
        values: dict[str, Any] = {}
        for feature in features():
            if place in feature.shown:
                values |= await feature.shown[place]()(self, *about)
        return values

    async def hand_over(self, place: str, *what: object) -> Any:  # noqa: ANN401 -- the place's
        """Have the feature do it that takes what is handed over at this place of a page.

        Raises:
            NotFound: no feature does.
        """
        for feature in features():
            if place in feature.takes:
                return await feature.takes[place]()(self, *what)
        raise NotFound("This service does not do that.")

    # -- for templates

    def marks(self, *, once: bool = False) -> Markup:
        mark = self._marks.get(MARK_FIELD)
        if mark is None:  # one for all the forms of a page
            token = masked(self.site.gateway.people.derived.form_token(self.cookie))
            mark = self._marks[MARK_FIELD] = _hidden(MARK_FIELD, token)
        if not once:
            return mark
        key = self.site.once.mint(self.user.id, self.site.clock.now_ms())
        return mark + _hidden(ONCE_FIELD, key)

    @property
    def base(self) -> str:
        """The part before a page's name in its address."""
        return self.face.root if self.is_console else f"/app/{self.organization_id}"

    @property
    def tail(self) -> str:
        """The part after a page's name in its address."""
        return "?mode=test" if self.mode is Mode.TEST and not self.is_console else ""

    def at(self, page: str, **query: str) -> str:
        if not query:
            return f"{self.base}/{page}{self.tail}"
        if self.tail:
            query = {"mode": "test", **query}
        return f"{self.base}/{page}?{urlencode(query)}"

    def may(self, access: str) -> bool:
        if self.is_console:
            return access == PageAccess.OPERATOR
        return self.place is not None and self.place.role in PageAccess(access).roles

    def can(self, operation: Ask[Any] | str | None) -> bool:
        """Whether the role of an operator allows an operation; None: no particular one."""
        name = operation.name if isinstance(operation, Ask) else operation
        return name is None or name in self.permitted

    @property
    def is_suspended(self) -> bool:
        """The organization reads and tops up, nothing else."""
        return self.place is not None and self.place.status != "active"

    def navigation(self) -> list[NavGroup]:
        """The entries of the reader's rail."""
        groups = (
            NavGroup(
                group.title,
                tuple(
                    item for item in group.items if self.has(item.slug) and self.may(item.access)
                ),
            )
            for group in self.face.navigation
        )
        return [group for group in groups if group.items]

    @property
    def rail(self) -> Rail:
        """:meth:`navigation`, the same object for all readers of a role."""
        rails, key = self.site.rails, (self._role, self.is_self_paid)
        if key not in rails:
            rails[key] = Rail(tuple(self.navigation()))
        return rails[key]

    @property
    def _role(self) -> Role | OperatorRole | None:
        if self.place is not None:
            return self.place.role
        return None if self.session is None else self.session.user.operator_role

    def has(self, page: str) -> bool:
        """Whether the organization has such a page, or the console for the reader's role."""
        if self._is_shut(page.partition("/")[0]):
            return False
        return page in self.site.slugs and (not self.is_console or self.can(self.site.slugs[page]))

    @property
    def is_shut(self) -> bool:
        """Whether this page is about money, and nobody pays."""
        return self._is_shut(self.slug)

    def _is_shut(self, slug: str) -> bool:
        return slug in self.face.of_money and self.is_self_paid

    @property
    def is_self_paid(self) -> bool:
        """Whether nobody pays for messages: then no page shows a balance or a price."""
        return self.site.gateway.is_self_paid

    @property
    def parts_today(self) -> PartsToday | None:
        """What the organization has sent today, of what it may; None: customers pay instead."""
        return self.site.gateway.parts_today(self.organization_id)

    @property
    def slug(self) -> str:
        """The current page of the organization or of the console."""
        at, parts = 2 if self.is_console else 3, self.http.path.split("/")
        return parts[at] if len(parts) > at else ""

    @property
    def entry(self) -> str:
        """The slug of the rail's entry that is the current one; empty: there is none."""
        return self.face.within.get(self.slug, self.slug) if self.has(self.slug) else ""

    @property
    def here(self) -> str:
        """The address of this page, with its filters; for a post, the page before it."""
        if self.http.method != "GET":
            return self.http.path
        query = self.http.query_string.decode("latin-1")
        return self.http.path + (f"?{query}" if query else "")

    def with_mode(self, mode: str) -> str:
        """The address of this page with live or test data."""
        page = self.slug if self.has(self.slug) else self.home()
        query = "?mode=test" if mode == "test" else ""
        return f"/app/{self.organization_id}/{page}{query}"

    @staticmethod
    def initials(name: str) -> str:
        """Two letters that represent a name."""
        words = [word for word in name.split() if word[0].isalnum()]
        return "".join(word[0] for word in words[:2]).upper() or "·"

    @staticmethod
    def name_of(name: str) -> Markup:
        """A name inside a sentence, in an isolate."""
        return Markup("<bdi>{}</bdi>").format(name)

    def done_by(self, who: str, *, alone: bool = False) -> Markup:
        """The actor of something, as :func:`risala.http.web.refusals.done_by` names them."""
        return done_by(self.words, who, alone=alone)

    def in_language(self, texts: Mapping[str, str]) -> str:
        """A text written in several languages; in English if the reader's is missing."""
        return in_language(self.words.language, texts)

    @staticmethod
    def code(text: str) -> Markup:
        """A typed or quoted text inside a sentence, in an isolate and in its own direction."""
        return Markup('<code dir="auto">{}</code>').format(text)

    @staticmethod
    def key(text: str) -> Markup:
        """A key to press, inside a sentence."""
        return Markup("<kbd>{}</kbd>").format(text)

    @staticmethod
    def link(address: str) -> Markup:
        return Markup('<a href="{}"><bdi class="num">{}</bdi></a>').format(address, address)

    def home(self) -> str:
        """The first page of the organization that there is."""
        return next((slug for slug in self.face.first if slug in self.site.slugs), "")

    # -- answers

    async def page(
        self,
        template: str,
        base_values: Mapping[str, object] | None = None,
        /,
        *,
        status: int = 200,
        is_secret: bool = False,
        **values: object,
    ) -> TrioResponse:
        """A page. ``is_secret``: it shows a secret once, and is not compressed."""
        drawn = await self.drawn(template, {**(base_values or {}), **values})
        return html_response(self.http, drawn, status, compress=not is_secret)

    def live(
        self,
        draw: Draw,
        what: What = What.LIFE,
        *,
        by_time: bool = False,
        beat_s: float = BEAT_S,
        at_once: bool = False,
    ) -> TrioResponse:
        """A stream of pieces of the page, drawn by ``draw`` after each change.

        ``by_time``: every ``beat_s`` too, for changes that cause no event. ``at_once``: as it
        begins too, for what changed while there was no stream.
        """
        assert self.session is not None, "the route lets strangers in"
        gateway = self.site.gateway
        return self.site.live.response(
            self.user.id,
            gateway.follow(what, self._place_id),
            gateway.people.sessions.watching(self.session, self._place_id),
            draw,
            by_time=by_time,
            beat_s=beat_s,
            at_once=at_once,
        )

    @property
    def plan(self) -> NumberingPlan:
        """The numbers that are served."""
        return self.site.settings.plan

    @property
    def served(self) -> str:
        """The countries that are served, in the reader's language; empty if a line holds them
        not."""
        names = countries_of(self.plan, self.words.language)
        return " · ".join(names) if len(names) <= SERVED_SHOWN else ""

    def download(
        self, download_id: str, name: str, table: AsyncGenerator[TablePart], form: FileForm
    ) -> TrioResponse:
        """A table as a file; :meth:`progress` of the same id shows its progress."""
        assert self.session is not None, "the route lets strangers in"
        watch = self.site.gateway.people.sessions.watching(self.session, self._place_id)
        reader = (self.user.id, download_id)
        return self.site.downloads.response(reader, name, watch, table, form)

    def progress(self, download: Download, draw: Draw) -> TrioResponse:
        """A stream of pieces, drawn at each progress of a download."""
        assert self.session is not None, "the route lets strangers in"
        return self.site.live.response(
            self.user.id,
            self.site.downloads.follow(download),
            self.site.gateway.people.sessions.watching(self.session, self._place_id),
            draw,
        )

    async def again(
        self,
        template: str,
        error: EngineError,
        base_values: Mapping[str, object] | None = None,
        /,
        **values: object,
    ) -> TrioResponse:
        """The page of a refused form: ``faults`` has the error of each field. What waits for a
        second operator is on the page of those instead."""
        if isinstance(error, ApprovalNeeded):
            return self.asked()
        return await self.wrong(
            template, faults_of(self.words, error, self.plan), base_values, **values
        )

    def asked(self) -> TrioResponse:
        """To the page of what waits for a second operator."""
        return self.go(self.at("approvals"), ASKED)

    async def wrong(
        self,
        template: str,
        faults: Mapping[str, Markup],
        base_values: Mapping[str, object] | None = None,
        /,
        **values: object,
    ) -> TrioResponse:
        """The page of a form with errors that the view found; ``TOP`` is the form as a whole."""
        drawn = await self.drawn(template, {**(base_values or {}), **values, "faults": faults})
        return html_response(self.http, drawn, 422)

    def go(self, address: str, notice: str | None = None) -> TrioResponse:
        """Redirect the reader. ``notice``: a sentence of the catalogue for the next page."""
        response = TrioResponse(b"", 303, content_type="text/html; charset=utf-8")
        response.headers["location"] = address
        if notice is not None:
            self.cookie_policy.set_cookie(
                response, self.cookie_policy.said_cookie, quote(notice), days=_SAID_DAYS
            )
        return response

    async def piece(self, template: str, **values: object) -> TrioResponse:
        """A part of a page, for htmx to put in place."""
        return html_response(self.http, await self.drawn(template, values), 200)

    async def drawn(self, template: str, values: Mapping[str, object]) -> str:
        """A page or a part of one, as text."""
        loaded = await self.site.templates.load()
        return render(loaded, template, self, {"request": self, "faults": {}, **values})


def html_response(
    request: Request, text: str, status: int, *, compress: bool = True
) -> TrioResponse:
    """A page, or a part of one, as an answer."""
    content = text.encode()
    big = len(content) >= _COMPRESSED_FROM
    zipped = compress and big and request.accept_encodings.quality("gzip") > 0
    if zipped:
        content = gzip.compress(content, compresslevel=5, mtime=0)
    response = TrioResponse(content, status, content_type="text/html; charset=utf-8")
    if zipped:
        response.headers["content-encoding"] = "gzip"
    response.headers["vary"] = "accept-encoding, cookie"
    return response


def _hidden(name: str, value: str) -> Markup:
    return Markup('<input type="hidden" name="{}" value="{}">').format(name, value)


__all__ = ["HEADERS", "POLICY", "TOP", "PageRequest", "Site", "Theme", "html_response"]
