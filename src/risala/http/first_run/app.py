"""The first run as a page, for one browser on this machine, until it is finished.

It listens on the loopback address alone, and answers no request that a proxy passed on. A link
opens it once; then a cookie does.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import trio
from quart import request as current_request
from quart.wrappers import Request
from quart_trio.wrappers import TrioResponse

from risala.config.model import HttpSection
from risala.engine.model.people import SessionKind
from risala.http.common.base import JsonApp
from risala.http.common.client_address import ClientAddresses
from risala.http.common.problems import Problem, plain
from risala.http.first_run import page
from risala.http.first_run.page import ROOT, FirstRunPageRequest
from risala.http.first_run.progress import FirstRunProgress
from risala.http.web.assets import PLACE
from risala.http.web.cookie_policy import (
    LANGUAGE_COOKIE,
    THEME_COOKIE,
    CookiePolicy,
    Way,
    cookie_policy_of,
    is_own_form,
)
from risala.http.web.face import WebFace
from risala.http.web.formats import Formats
from risala.http.web.forms import MARK_FIELD, SentForm, read_form, unmasked
from risala.http.web.languages import language_named, preferred
from risala.http.web.page_request import HEADERS, Theme
from risala.http.web.templates import Templates

SESSION_COOKIE: Final = "risala-first-run"
_SESSION_DAYS: Final = 1 / 24
"""The page itself ends after an hour."""
_CHOICE_DAYS: Final = 1.0
_HEADERS: Final = {**HEADERS, "x-content-type-options": "nosniff"}
_FACE: Final = WebFace(
    templates=(Path(__file__).parent / "templates",),
    kind=SessionKind.OPERATOR,
    root=ROOT,
    home=f"{ROOT}/",
    frame="first_run/frame.html",
    navigation=(),
)


class FirstRunApp(JsonApp):
    """Pages for one reader.

    Args:
        progress: how far they have come.
        over: set once the reader has seen the end: nothing is answered after that.
    """

    def __init__(self, progress: FirstRunProgress, http: HttpSection, over: trio.Event) -> None:
        super().__init__(
            "risala.http.first_run",
            body_bytes_max=http.body_max_bytes,
            body_timeout_s=http.body_timeout_s,
        )
        self._progress = progress
        self._over = over
        self._templates = Templates(_FACE.templates)
        for method, path, view in (
            ("GET", "/", page.begin),
            ("GET", "/step/<name>", page.show),
            ("POST", "/step/<name>", page.submit),
            ("GET", "/end", self._end),
            ("POST", "/end", page.finish),
        ):
            self._add(method, ROOT + path, view)
        for path in ("/language", "/theme"):
            self._route("POST", ROOT + path, self._choose)
        self._route("GET", f"{ROOT}/<token>", self._open)
        self._route("GET", f"{PLACE}<name>", self._templates.static)

    def _route(self, method: str, path: str, view: Callable[..., Awaitable[TrioResponse]]) -> None:
        async def answer(**arguments: str) -> TrioResponse:
            if self._over.is_set() or self._cookie_policy().way is not Way.LOCAL:
                raise plain(404)
            reply = await view(**arguments)
            reply.headers.update(_HEADERS if "etag" not in reply.headers else {})
            return reply

        self.add_url_rule(
            path, f"{method} {path}", answer, methods=[method], provide_automatic_options=False
        )

    def _add(
        self, method: str, path: str, view: Callable[[FirstRunPageRequest], Awaitable[TrioResponse]]
    ) -> None:
        async def answer(**_: str) -> TrioResponse:
            request = await self._arrive()
            if not request.cookie:
                return request.gone()
            if method == "POST":
                request = replace(request, form=await self._form(request))
            return await view(request)

        self._route(method, path, answer)

    # -- access

    def _cookie_policy(self) -> CookiePolicy:
        return cookie_policy_of(_request(), ClientAddresses(()), None, SessionKind.OPERATOR)

    async def _arrive(self) -> FirstRunPageRequest:
        request, loaded = _request(), await self._templates.load()
        chosen = language_named(request.cookies.get(LANGUAGE_COOKIE))
        language = chosen or preferred(request.accept_languages)
        is_reader = self._progress.is_reader(request.cookies.get(SESSION_COOKIE, ""))
        return FirstRunPageRequest(
            http=request,
            progress=self._progress,
            loaded=loaded,
            face=_FACE,
            formats=Formats(loaded.words[language], ZoneInfo("UTC"), "", 0),
            theme=Theme.named(request.cookies.get(THEME_COOKIE)),
            cookie=self._progress.mark if is_reader else "",
        )

    async def _form(self, request: FirstRunPageRequest) -> SentForm:
        """The form that was posted.

        Raises:
            Problem: no page of ours sent it.
        """
        form = await read_form(request.http)
        sent = unmasked(form.text(MARK_FIELD))
        is_same = secrets.compare_digest(sent.encode(), request.cookie.encode())
        if not is_same or not is_own_form(request.http, self._cookie_policy()):
            raise Problem(403, "This form was not sent by a page of ours.")
        return form

    async def _open(self, token: str) -> TrioResponse:
        request = await self._arrive()
        session = self._progress.use_link(token)
        if session is None:  # by the same reader it is a second press
            return request.go("") if request.cookie else request.gone()
        reply = request.go("")
        self._cookie_policy().set_cookie(reply, SESSION_COOKIE, session, days=_SESSION_DAYS)
        return reply

    # -- answers

    async def _end(self, request: FirstRunPageRequest) -> TrioResponse:
        reply = await page.end(request)
        if self._progress.ended is not None:
            self._over.set()
        return reply

    async def _choose(self) -> TrioResponse:
        """Keep the language or the colours that the reader chose."""
        request = await self._arrive()
        if not request.cookie:
            raise plain(404)
        form = await self._form(request)
        here = form.text("next")
        reply = request.go(here.removeprefix(f"{ROOT}/") if page.is_page(here) else "")
        for name, cookie, known in (
            ("language", LANGUAGE_COOKIE, language_named(form.text("language")) is not None),
            ("theme", THEME_COOKIE, form.text("theme") in [*Theme]),
        ):
            if known:
                self._cookie_policy().set_cookie(reply, cookie, form.text(name), days=_CHOICE_DAYS)
        return reply


def _request() -> Request:
    """The request that is answered now."""
    return current_request
