"""Requests for senders: doubtful ones first, and one page to decide on each."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup, escape
from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import NotFound, Refusal
from risala.engine.model.records import senders
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.senders import Mark, MarkedSender
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, NC_
from risala.http.web.lists import choice, cursors, pager_of, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute, shows

STATES: Final = {
    "waiting": NC_("requests", "Waiting"),
    "cleared": NC_("requests", "Cleared"),
    "approved": NC_("requests", "Approved"),
    "denied": NC_("requests", "Denied"),
}
MARKS: Final = {
    "generic": N_("The name is generic: anybody could use it."),
    "default": N_("It resembles {name}, our own name."),
    "protected": N_("It resembles {name}, which is a bank, a network or an authority."),
    "organization": N_("It resembles {name}, a name of {organization}."),
}
"""Why a name wants a second look."""
CLEARED: Final = N_("The name is cleared. It is approved automatically once the volume is reached.")
APPROVED: Final = N_("The name is approved. Messages leave with it from now on.")
DENIED: Final = N_("The name is denied, and its organization is notified of the reason.")
_LIST: Final = "senders/list.html"
_ONE: Final = "senders/one.html"


async def _listed(request: PageRequest) -> dict[str, Any]:
    state, search = request.form.text("status"), request.form.text("q")
    query = {"status": state} if state else {}
    if search:
        query["q"] = search
    chosen = query.get("status", "waiting")
    cursors = request.form.filled("before", "after")
    queue = await request.ask(senders.REQUESTS, status=chosen, search=search or None, **cursors)
    return {
        "page": queue,
        "senders": [(each, _doubts(request, each)) for each in queue.senders],
        "state": chosen,
        "states": STATES,
        "query": query,
        "pager": pager_of(request.at("senders"), query, newer=queue.newer, older=queue.older),
    }


def _doubts(request: PageRequest, sender: MarkedSender) -> list[Markup]:
    """The objections to a name, in the operator's language."""
    return [_reason_text(request, mark) for mark in sender.marks]


def _reason_text(request: PageRequest, mark: Mark) -> Markup:
    """Why to look twice; a reason that is new to us in the engine's own words."""
    if mark.code not in MARKS:
        return escape(mark.text)
    whose = request.name_of(mark.organization or "")
    return request.words(
        MARKS[mark.code], name=request.name_of(mark.name or ""), organization=whose
    )


async def _one(request: PageRequest) -> dict[str, Any]:
    """One request, and the share of its organization's traffic under the name."""
    sender_id = request.arguments["sender_id"]
    queue = await request.ask(senders.REQUESTS, sender_id=sender_id)
    if not queue.senders:
        raise NotFound("There is no such sender.")
    sender = queue.senders[0]
    volume = await request.ask(senders.VOLUME, organization_id=sender.organization_id)
    counted = [each for each in volume.names if each.name == sender.name]
    return {
        "sender": sender,
        "doubts": _doubts(request, sender),
        "reasons": queue.reasons,
        "sent": counted[0] if counted else None,
        "days": volume.days,
        "form": request.form,
    }


async def clear(request: PageRequest) -> TrioResponse:
    return await _decide(request, senders.CLEAR)


async def waive(request: PageRequest) -> TrioResponse:
    return await _decide(request, senders.WAIVE)


async def deny(request: PageRequest) -> TrioResponse:
    return await _decide(request, senders.DENY, reason=request.form.text("reason") or "none")


async def _decide(request: PageRequest, ask: Ask[MarkedSender], **more: str) -> TrioResponse:
    sender_id = request.arguments["sender_id"]
    try:
        decided = await request.ask(ask, sender_id=sender_id, **more)
    except NotFound:
        raise
    except Refusal as error:
        return await request.again(_ONE, error, await _one(request))
    notice = {"approved": APPROVED, "denied": DENIED}.get(decided.status, CLEARED)
    return request.go(request.at("senders"), notice)


_PAGE: Final = "/operator/senders"
_SENDER: Final = f"{_PAGE}/<sender_id>"
_OPERATOR: Final = PageAccess.OPERATOR
FILTERS: Final = (
    typed("q", N_("Name or organization"), "search"),
    choice("status", N_("State"), STATES),
    *cursors(),
)
ROUTES: Final = (
    PageRoute(
        path=_PAGE,
        view=shows(_LIST, _listed),
        access=_OPERATOR,
        needs=senders.REQUESTS,
        filters=FILTERS,
    ),
    PageRoute(path=_SENDER, view=shows(_ONE, _one), access=_OPERATOR, needs=senders.REQUESTS),
    PageRoute(
        path=f"{_SENDER}/clear", view=clear, access=_OPERATOR, needs=senders.CLEAR, method="POST"
    ),
    PageRoute(
        path=f"{_SENDER}/waive", view=waive, access=_OPERATOR, needs=senders.WAIVE, method="POST"
    ),
    PageRoute(
        path=f"{_SENDER}/deny", view=deny, access=_OPERATOR, needs=senders.DENY, method="POST"
    ),
)
