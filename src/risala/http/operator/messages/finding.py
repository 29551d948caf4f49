"""Finding messages over all organizations, by details that a customer gives on the telephone."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from quart_trio.wrappers import TrioResponse

from risala.engine.model.errors import Invalid
from risala.engine.model.records import message_lists
from risala.engine.model.records.message_lists import FoundMessage
from risala.http.web.face import PageAccess
from risala.http.web.languages import N_, network_name
from risala.http.web.lists import choice, cursors, pager_of, typed
from risala.http.web.messages.sentences import cause_markup
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import faults_of
from risala.http.web.routes import PageRoute
from risala.sms.numbering.countries import network_of
from risala.sms.numbering.plan import NumberingPlan

WAYS: Final = ("to", "message_id", "carrier_id")
"""Kinds of search texts: a number or a part of one, an id of ours, the carrier's."""
PAGE: Final = 50
_MESSAGE: Final = "sms_"


async def show(request: PageRequest) -> TrioResponse:
    text, by = request.form.text("q"), request.form.text("by")
    if not text:
        return await request.page("messages/find.html", query={}, messages=None)
    query = {"q": text, **({"by": by} if by else {})}
    arguments = _meant(request.plan, text, query.get("by"))
    around = request.form.filled("before", "after")
    try:
        page = await request.ask(message_lists.FIND, limit=PAGE, **arguments, **around)
    except Invalid as error:
        if any(fault.path in around for fault in error.faults):
            raise
        faults = {"q": next(iter(faults_of(request.words, error, request.plan).values()))}
        return await request.wrong("messages/find.html", faults, {"query": query, "messages": None})
    messages = page.messages
    if "message_id" in arguments and messages:
        return request.go(request.at(f"messages/{messages[0].id}"))
    return await request.page(
        "messages/find.html",
        query=query,
        way="either" if len(arguments) > 1 else next(iter(arguments)),
        messages=[_view(request, each) for each in messages],
        pager=pager_of(request.at("messages"), query, newer=page.newer, older=page.older),
    )


def _meant(plan: NumberingPlan, text: str, by: str | None) -> dict[str, str]:
    """The search arguments for a text, whose kind may be unknown."""
    if by == "message_id" or (by is None and text.startswith(_MESSAGE)):
        return {"message_id": text}
    if by == "carrier_id":
        return {"carrier_id": text}
    with suppress(ValueError):
        return {"to": plan.read(text)}
    digits = plan.digits_of(text)
    if by == "to":
        return {"to": text} if digits is None else {"digits": text}
    if digits is None or len(digits) < plan.part_min:
        return {"carrier_id": text}
    return {"digits": text, "carrier_id": text}  # carriers' ids may consist of digits only


def _view(request: PageRequest, message: FoundMessage) -> dict[str, object]:
    """A message as its reader sees it."""
    network = network_of(message.to)
    if message.uncertain:
        note: object = request.words("Nobody knows yet whether the carrier took it.")
    else:
        note = cause_markup(request.formats, message.error_code)
    return {
        "message": message,
        "state": "uncertain" if message.uncertain else message.status,
        "network": None if network is None else network_name(network),
        "note": note,
        "is_bad": message.status in ("failed", "undelivered"),
    }


ROUTES: Final = (
    PageRoute(
        path="/operator/messages",
        view=show,
        access=PageAccess.OPERATOR,
        needs=message_lists.FIND,
        filters=(
            typed("q", N_("Recipient’s number or a part of it, id, or the carrier’s id")),
            choice("by", N_("What is it?"), WAYS),
            *cursors(),
        ),
    ),
)
