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
from risala.http.web.lists.filters import choice, cursors, typed
from risala.http.web.lists.pager import pager_of
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


async def _listed(visit: PageRequest) -> dict[str, Any]:
    state, search = visit.form.text("status"), visit.form.text("q")
    query = {"status": state} if state else {}
    if search:
        query["q"] = search
    wanted = query.get("status", "waiting")
    cursors = visit.form.filled("before", "after")
    found = await visit.ask(senders.REQUESTS, status=wanted, search=search or None, **cursors)
    return {
        "page": found,
        "senders": [(each, _doubts(visit, each)) for each in found.senders],
        "state": wanted,
        "states": STATES,
        "query": query,
        "pager": pager_of(visit.at("senders"), query, newer=found.newer, older=found.older),
    }


def _doubts(visit: PageRequest, sender: MarkedSender) -> list[Markup]:
    """The objections to a name, in the operator's language."""
    return [_reason_text(visit, mark) for mark in sender.marks]


def _reason_text(visit: PageRequest, mark: Mark) -> Markup:
    """Why to look twice; a reason that is new to us in the engine's own words."""
    if mark.code not in MARKS:
        return escape(mark.text)
    whose = visit.name_of(mark.organization or "")
    return visit.words(MARKS[mark.code], name=visit.name_of(mark.name or ""), organization=whose)


async def _one(visit: PageRequest) -> dict[str, Any]:
    """One request, and the share of its organization's traffic under the name."""
    sender_id = visit.arguments["sender_id"]
    found = await visit.ask(senders.REQUESTS, sender_id=sender_id)
    if not found.senders:
        raise NotFound("There is no such sender.")
    sender = found.senders[0]
    volume = await visit.ask(senders.VOLUME, organization_id=sender.organization_id)
    counted = [each for each in volume.names if each.name == sender.name]
    return {
        "sender": sender,
        "doubts": _doubts(visit, sender),
        "reasons": found.reasons,
        "sent": counted[0] if counted else None,
        "days": volume.days,
        "form": visit.form,
    }


async def clear(visit: PageRequest) -> TrioResponse:
    return await _decide(visit, senders.CLEAR)


async def waive(visit: PageRequest) -> TrioResponse:
    return await _decide(visit, senders.WAIVE)


async def deny(visit: PageRequest) -> TrioResponse:
    return await _decide(visit, senders.DENY, reason=visit.form.text("reason") or "none")


async def _decide(visit: PageRequest, ask: Ask[MarkedSender], **more: str) -> TrioResponse:
    sender_id = visit.arguments["sender_id"]
    try:
        decided = await visit.ask(ask, sender_id=sender_id, **more)
    except NotFound:
        raise
    except Refusal as error:
        return await visit.again(_ONE, error, await _one(visit))
    told = {"approved": APPROVED, "denied": DENIED}.get(decided.status, CLEARED)
    return visit.go(visit.at("senders"), told)


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
