"""The reader's choices on any page: the language and the colours."""

from __future__ import annotations

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


async def set_language(visit: PageRequest) -> TrioResponse:
    reply = visit.go(_back(visit))
    language = language_named(visit.form.text("language"))
    if language is not None:
        visit.door.set_cookie(reply, LANGUAGE_COOKIE, language.value, days=_YEAR_DAYS)
        session = visit.session
        own = session is not None and session.bound_to is None
        if own and visit.user.language is not language:
            # Mails are in this language too.
            await visit.ask_own(SET, language=language.value)
    return reply


async def set_theme(visit: PageRequest) -> TrioResponse:
    reply = visit.go(_back(visit))
    chosen = visit.form.text("theme")
    if chosen in [theme.value for theme in Theme]:
        visit.door.set_cookie(reply, THEME_COOKIE, chosen, days=_YEAR_DAYS)
    return reply


def _back(visit: PageRequest) -> str:
    face = visit.face
    places = (face.home, *(f"{face.root}{place}" for place in _PLACES))
    return safe_next(visit.form.text("next"), places) or face.home


def routes(root: str) -> tuple[PageRoute, ...]:
    """The addresses below ``root``."""
    public = partial(PageRoute, access=PageAccess.PUBLIC, method="POST")
    return (
        public(path=f"{root}/language", view=set_language),
        public(path=f"{root}/theme", view=set_theme),
    )
