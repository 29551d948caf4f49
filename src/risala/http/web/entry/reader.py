"""The reader's choices on any page, the language and the colours; and their browser's name for
itself, in a list of devices."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.records.people.account import SET
from risala.http.web.cookie_policy import LANGUAGE_COOKIE, THEME_COOKIE, safe_next
from risala.http.web.face import PageAccess
from risala.http.web.languages import language_named
from risala.http.web.page_request import PageRequest, Theme
from risala.http.web.routes import PageRoute

_PLACES: Final = ("/account", "/sign-in", "/sign-up", "/outbox")
"""Paths of a face, below its root and in addition to its home, where the choice can be made."""
_YEAR_DAYS: Final = 365.0


async def set_language(request: PageRequest) -> TrioResponse:
    reply = request.go(_back(request))
    language = language_named(request.form.text("language"))
    if language is not None:
        request.cookie_policy.set_cookie(reply, LANGUAGE_COOKIE, language.value, days=_YEAR_DAYS)
        session = request.session
        own = session is not None and session.bound_to is None
        if own and request.user.language is not language:
            # Mails are in this language too.
            await request.ask_own(SET, language=language.value)
    return reply


async def set_theme(request: PageRequest) -> TrioResponse:
    reply = request.go(_back(request))
    chosen = request.form.text("theme")
    if chosen in [theme.value for theme in Theme]:
        request.cookie_policy.set_cookie(reply, THEME_COOKIE, chosen, days=_YEAR_DAYS)
    return reply


def _back(request: PageRequest) -> str:
    face = request.face
    places = (face.home, *(f"{face.root}{place}" for place in _PLACES))
    return safe_next(request.form.text("next"), places) or face.home


def routes(root: str) -> tuple[PageRoute, ...]:
    """The addresses below ``root``."""
    public = partial(PageRoute, access=PageAccess.PUBLIC, method="POST")
    return (
        public(path=f"{root}/language", view=set_language),
        public(path=f"{root}/theme", view=set_theme),
    )


_BROWSERS: Final = ("Edg", "OPR", "SamsungBrowser", "Firefox", "Chrome", "Safari")
"""Words of a ``User-Agent``, the more specific first: all browsers call themselves Safari."""
_NAMES: Final = {"Edg": "Edge", "OPR": "Opera", "SamsungBrowser": "Samsung Internet"}
_SYSTEMS: Final = ("Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")


def device_name(agent: str) -> str:
    """``Firefox, Android`` from a ``User-Agent``; empty if it names neither."""
    browser = next((each for each in _BROWSERS if f"{each}/" in agent), None)
    system = next((each for each in _SYSTEMS if re.search(rf"\b{each}\b", agent)), None)
    names = [_NAMES.get(browser, browser) if browser else None, system]
    return ", ".join(each for each in names if each)
