"""Verify's sessions: the sent codes, and the result of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.commands import LifeEvent
from risala.engine.model.errors import Invalid, NotFound
from risala.engine.model.following import OutboxEvent, What
from risala.engine.model.records import messages
from risala.engine.model.records.verify import sessions
from risala.engine.model.records.verify.sessions import VerificationView
from risala.engine.model.states import SessionState
from risala.http.web.face import PageAccess
from risala.http.web.formats import ms_of
from risala.http.web.languages import N_, NC_
from risala.http.web.lists import (
    Chip,
    chips,
    choice,
    cursors,
    days,
    number_filter,
    pager_of,
    typed,
)
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute

CANCELED: Final = N_("The session has ended: its code no longer works.")
STATES: Final = {
    "pending": NC_("state", "Pending"),
    "approved": NC_("state", "Approved"),
    "expired": NC_("state", "Expired"),
    "canceled": NC_("state", "Canceled"),
}
REASONS: Final = {
    "max_attempts": N_("Too many wrong codes were entered."),
    "expired": N_("The time ran out before the right code was entered."),
    "delivery_failed": N_("The SMS with the code could not be sent."),
    "canceled": N_("A member of your organization ended it."),
}
"""Why a session ended without being approved."""
ENDED_EARLY: Final = N_("It was ended by hand, or the same number was to call once more.")
FILTERS: Final = (
    typed("q", N_("Number or id"), "to", "digits"),
    choice("status", N_("State"), STATES),
    *days(),
    *cursors(),
)
FIELDS: Final = ("q", "status", "since", "until", "before", "after")
PAGE: Final = 50
_USUAL_DAYS: Final = 7
"""The default period of the figures in days, including today."""


async def show_all(request: PageRequest) -> TrioResponse:
    text = request.form.text("q")
    if text.startswith("ver_"):
        return request.go(request.at(f"verify/{text}"))
    return await request.page("verify/list.html", await _page(request))


async def live_all(request: PageRequest) -> TrioResponse:
    """The figures and the states of the page's sessions; rows are neither added nor removed."""

    async def draw(_: object) -> str:
        return await request.drawn("verify/list_pieces.html", await _page(request))

    return request.live(draw, What.LIFE | What.EVENTS)


async def _page(request: PageRequest) -> dict[str, Any]:
    query = request.form.filled(*FIELDS)
    arguments = _asked(request, query)
    since, until = _time(request, arguments)
    mode = request.mode.value
    page = await request.ask_here(sessions.LIST, mode=mode, limit=PAGE, **arguments)
    figures = await request.ask_here(sessions.FIGURES, mode=mode, since=since, until=until)
    shown = {**query, "mode": "test"} if mode == "test" else query
    path = f"/app/{request.organization_id}/verify"
    return {
        "query": query,
        "states_shown": [(each, request.words.among("state", STATES[each])) for each in STATES],
        "chips": _chips(request, query, arguments),
        "sessions": page.sessions,
        "page": page,
        "why": partial(_why, request),
        "figures": figures,
        "first": since,
        "last": ms_of(until) - 1,
        "pager": pager_of(path, shown, newer=page.newer, older=page.older),
        "live_at": request.at("verify/live", **query),
    }


def _asked(request: PageRequest, query: Mapping[str, str]) -> dict[str, str]:
    """The arguments of the operation. Raises ``Invalid``: the search is for no number."""
    arguments = {name: query[name] for name in ("before", "after", "status") if name in query}
    if text := query.get("q"):
        arguments |= number_filter(request.plan, text, whole="to")
    if "contains" in arguments:
        raise Invalid("digits", "no_number_part", "A code is looked for by its number.")
    for name, later in (("since", 0), ("until", 1)):
        if (at := request.formats.midnight(query.get(name, ""), later)) is not None:
            arguments[name] = at
    return arguments


def _time(request: PageRequest, arguments: Mapping[str, str]) -> tuple[str, str]:
    """The period of the figures: the requested one, else the last days."""
    today = f"{request.formats.today}"
    first = request.formats.midnight(today, 1 - _USUAL_DAYS)
    last = request.formats.midnight(today, 1)
    assert first is not None
    assert last is not None
    return arguments.get("since", first), arguments.get("until", last)


def _chips(
    request: PageRequest, query: Mapping[str, str], arguments: Mapping[str, str]
) -> list[Chip]:
    words, formats = request.words, request.formats
    labels = {}
    if to := arguments.get("to"):
        labels["q"] = words("To {number}", number=formats.tel(to))
    elif digits := arguments.get("digits"):
        labels["q"] = words("Number with {digits}", digits=request.code(digits))
    if status := arguments.get("status"):
        labels["status"] = words.among("state", STATES[status])
    if since := arguments.get("since"):
        labels["since"] = words("Since {date}", date=formats.date_text(since))
    if until := arguments.get("until"):
        labels["until"] = words("Until {date}", date=formats.date_text(ms_of(until) - 1))
    kept = {name: value for name, value in query.items() if name not in ("before", "after")}
    return chips(labels, kept, request.at, "verify")


def _why(request: PageRequest, session: VerificationView) -> Markup | None:
    """Why a session ended without being approved, in the reader's words."""
    reason = REASONS.get(session.reason or "")
    if session.reason == "canceled" and "method" in session.details:
        reason = ENDED_EARLY
    return None if reason is None else request.words(reason)


async def show(request: PageRequest) -> TrioResponse:
    return await request.page("verify/show.html", await _values(request))


async def live(request: PageRequest) -> TrioResponse:
    """A stream of a verification's state and its SMS, whenever either changes."""
    first = await session_of(request, request.arguments["verification_id"])

    async def draw(changes: Sequence[LifeEvent | OutboxEvent] | None) -> str:
        if changes is not None and not any(_is_of(first, each) for each in changes):
            return ""
        return await request.drawn("verify/show_pieces.html", await _values(request))

    return request.live(draw, What.LIFE | What.EVENTS)


def _is_of(session: VerificationView, change: LifeEvent | OutboxEvent) -> bool:
    if isinstance(change, LifeEvent):
        return bool(change.message_id == session.message_id)
    return session.id in change.body


async def session_of(request: PageRequest, verification_id: str) -> VerificationView:
    """A session of the page's mode. Raises ``NotFound``."""
    session = await request.ask(sessions.GET, verification_id=verification_id)
    if session.mode is not request.mode:
        raise NotFound("There is no such session in this mode.")
    return session


async def _values(request: PageRequest) -> dict[str, Any]:
    session = await session_of(request, request.arguments["verification_id"])
    message = None
    if session.message_id is not None:
        story = await request.ask(messages.SHOW, message_id=session.message_id)
        message = story.message
    return {
        "session": session,
        "why": partial(_why, request),
        "message": message,
        "may_cancel": session.status is SessionState.PENDING,
        "live_at": request.at(f"verify/{session.id}/live"),
    }


async def ask_cancel(request: PageRequest) -> TrioResponse:
    """The question as a page: for browsers without script."""
    return await request.page("verify/cancel.html", await _values(request))


async def cancel(request: PageRequest) -> TrioResponse:
    session = await session_of(request, request.arguments["verification_id"])
    await request.ask(sessions.CANCEL, verification_id=session.id)
    return request.go(request.at(f"verify/{session.id}"), CANCELED)


_LIST: Final = "/app/<org>/verify"
_ONE: Final = f"{_LIST}/<verification_id>"
ROUTES: Final = (
    PageRoute(path=_LIST, view=show_all, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(path=f"{_LIST}/live", view=live_all, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(path=_ONE, view=show, access=PageAccess.VIEWER),
    PageRoute(path=f"{_ONE}/live", view=live, access=PageAccess.VIEWER),
    PageRoute(path=f"{_ONE}/cancel", view=ask_cancel, access=PageAccess.DEVELOPER),
    PageRoute(path=f"{_ONE}/cancel", view=cancel, access=PageAccess.DEVELOPER, method="POST"),
)
