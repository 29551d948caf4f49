"""The page of a verification in which the user sends a text, or calls: for the user, who has no
account here. It shows what to do and how it stands, and never a number of a user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import trio
from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.features.reverse.records import HOSTED, HostedVerification
from risala.engine.model.commands import AddressUse, LifeEvent
from risala.engine.model.errors import NotFound
from risala.engine.model.following import OutboxEvent, What
from risala.engine.model.states import SessionState
from risala.http.web.cookie_policy import LANGUAGE_COOKIE
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, language_named
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

STREAMS_MAX: Final = 200
"""Streams of all such pages; further ones ask every five seconds."""
STREAMS_PER_PAGE_MAX: Final = 2
"""A desktop and a phone."""
_KIND: Final = "hosted"
_CHANGED: Final = "changed"
WAITING, DONE, OVER = "waiting", "done", "over"
HINTS: Final = {
    "other_number": N_("The text came from another number. Send it from your own phone."),
    "untrusted": N_("The text came by a way that proves no number. Send it as an SMS."),
    "withheld": N_("The text came without your number. Send it as an SMS from your phone."),
}
HEADERS: Final = {"referrer-policy": "no-referrer", "x-robots-tag": "noindex, nofollow"}


async def show(request: PageRequest) -> TrioResponse:
    verification = await _verification(request)
    state = _state(verification)
    request = await _in_its_language(request, verification)
    values: dict[str, Any] = {
        "verification": verification,
        "state": state,
        "drawing": Markup(verification.qr_svg),  # noqa: S704 -- a drawing of our own
        "hint": HINTS.get(verification.refused or ""),
        "live_at": f"{request.http.path}/live",
    }
    reply = await request.page(
        "verify/hosted.html", values, status=200 if state == WAITING else 410, is_secret=True
    )
    reply.headers.extend(HEADERS)
    return reply


async def live(request: PageRequest) -> TrioResponse:
    """A stream that says when the page has changed; it ends with the verification."""
    first = await _verification(request)
    gateway, token = request.site.gateway, _token(request)
    is_over = _state(first) != WAITING

    async def draw(changes: Sequence[LifeEvent | OutboxEvent] | None) -> str:
        nonlocal is_over
        if is_over:
            raise NotFound("It is over.")
        if changes is not None and not any(_is_of(first, each) for each in changes):
            return ""
        now = await gateway.access(HOSTED).hosted(token)
        is_over = _state(now) != WAITING
        return _CHANGED if is_over or now.refused != first.refused else ""

    streams = request.site.live.apart(_KIND, STREAMS_MAX, STREAMS_PER_PAGE_MAX)
    follow = gateway.follow(What.EVENTS, first.organization_id)
    return streams.response(first.verification_id, follow, _watched(), draw, by_time=True)


@contextmanager
def _watched() -> Iterator[trio.Event]:
    """A reader without an account may see the page as long as it is there."""
    yield trio.Event()


def _is_of(verification: HostedVerification, change: LifeEvent | OutboxEvent) -> bool:
    return isinstance(change, OutboxEvent) and verification.verification_id in change.body


async def _verification(request: PageRequest) -> HostedVerification:
    """
    Raises:
        NotFound: there is no such page.
        RateLimited: the reader's address asks too often.
    """
    gateway = request.site.gateway
    await gateway.take_address(AddressUse.CODE_CHECK, request.browser.bucket)
    return await gateway.access(HOSTED).hosted(_token(request))


def _token(request: PageRequest) -> str:
    return request.arguments["token"]


def _state(verification: HostedVerification) -> str:
    if verification.status is SessionState.PENDING:
        return WAITING
    return DONE if verification.status is SessionState.APPROVED else OVER


async def _in_its_language(request: PageRequest, verification: HostedVerification) -> PageRequest:
    """In the reader's choice, else in the language that the program asked for."""
    chosen = language_named(request.http.cookies.get(LANGUAGE_COOKIE))
    language = language_named(verification.locale)
    if chosen is not None or language is None:
        return request
    words = (await request.site.templates.load()).words[language]
    return replace(request, formats=replace(request.formats, words=words))


_PAGE: Final = "/v/<token>"
ROUTES: Final = (
    PageRoute(path=_PAGE, view=show, access=PageAccess.PUBLIC),
    PageRoute(path=f"{_PAGE}/live", view=live, access=PageAccess.PUBLIC),
)
