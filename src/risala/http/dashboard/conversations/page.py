"""Conversations: the people who wrote, and beside them the messages of one, with the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.features.lists import records as recipient_lists
from risala.engine.features.lists.records import RecipientList, SavedText
from risala.engine.model.errors import Conflict, Invalid, Refusal
from risala.engine.model.following import What
from risala.engine.model.records import conversations, keys, messages
from risala.engine.model.records.conversations import (
    ConversationSummary,
    Thread,
    ThreadMessage,
)
from risala.engine.model.records.ledger import PRICE
from risala.engine.model.records.messages import Estimate
from risala.engine.model.records.people import members
from risala.engine.model.records.people.countries import CountryUse
from risala.http.dashboard.abroad import open_abroad
from risala.http.web.face import NavItem, PageAccess
from risala.http.web.languages import N_, NC_, network_name
from risala.http.web.lists import (
    Filter,
    FilterKind,
    choice,
    cursors,
    number_filter,
    pager_of,
    typed,
)
from risala.http.web.page_request import PageRequest
from risala.http.web.refusals import refusal_sentence
from risala.http.web.routes import PageRoute
from risala.sms.limits import TEXT_CHARACTERS_MAX
from risala.sms.numbering.countries import network_of

SENT: Final = N_("The answer is accepted.")
PAGE: Final = 30
"""Conversations beside a thread."""
MESSAGES: Final = 50
"""Messages of a thread that are shown at once."""
ON_LIST: Final = N_("The number is on the list.")
SHOWN: Final = {
    "open": NC_("conversations", "Open"),
    "unread": NC_("conversations", "Unread"),
    "mine": NC_("conversations", "Mine"),
    "done": NC_("conversations", "Done"),
    "stopped": NC_("conversations", "STOP"),
}
ALL: Final = NC_("conversations", "All")
UPTO: Final = Filter("upto", kind=FilterKind.PLACE, arguments=("before",))
"""The place at which older messages of a thread begin."""
FILTERS: Final = (
    typed("q", N_("Number, name or word"), "number", "digits", "contains"),
    choice("show", N_("State"), SHOWN),
    *cursors(),
)
_TEMPLATE: Final = "conversations/page.html"
_PIECES: Final = "conversations/pieces.html"


async def show(request: PageRequest) -> TrioResponse:
    """The people who wrote, the newest texts first."""
    return await request.page(_TEMPLATE, await _people(request))


async def show_one(request: PageRequest) -> TrioResponse:
    """One conversation beside them. Its page tells by a form of its own that it was read."""
    return await request.page(_TEMPLATE, await _values(request, await _thread(request)))


async def count(request: PageRequest) -> TrioResponse:
    """The page with the answer counted by the server, or with a saved text in it: for browsers
    without script."""
    return await request.page(_TEMPLATE, await _values(request, await _thread(request)))


async def reply(request: PageRequest) -> TrioResponse:
    arguments = {"body": request.form.text("body"), "seen": request.form.text("seen") or None}
    try:
        await request.ask_here(conversations.REPLY, **_named(request), **arguments)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request, await _thread(request)))
    return request.go(_at(request, _id(request)), SENT)


async def mark(request: PageRequest) -> TrioResponse:
    """Done or open again, read or unread, or somebody's."""
    form, changes = request.form, dict[str, object]()
    if state := form.text("state"):
        changes |= {"state": state}
    if read := form.text("read"):
        changes |= {"read": read == "yes"}
    if "assigned_to" in form.fields:
        changes |= {"assigned_to": form.text("assigned_to")}
    try:
        await _mark(request, **changes)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request, await _thread(request)))
    if "hx-request" in request.http.headers:  # by the page itself
        values = await _values(request, await _thread(request))
        return await request.piece(_PIECES, **{**values, "is_live": True})
    if changes.get("read") is False:  # who opens it has read it
        return request.go(request.at("conversations", **_filters(request)))
    return request.go(_at(request, _id(request)))


async def add_to_list(request: PageRequest) -> TrioResponse:
    """Put the number on a list of the organization; if it is there, its values stay."""
    thread = await _thread(request)
    list_id, number = request.form.text("list_id"), thread.conversation.number
    try:
        if list_id not in {each.id for each in await _lists(request)}:
            raise Invalid("list_id", "missing", request.words("Choose a list."))
        await request.ask(recipient_lists.ADD, list_id=list_id, number=number)
    except Refusal as error:
        return await request.again(_TEMPLATE, error, await _values(request, thread))
    return request.go(_at(request, _id(request)), ON_LIST)


async def live(request: PageRequest) -> TrioResponse:
    """The list, and the thread of the page, are drawn again after each change."""
    chosen = request.arguments.get("conversation_id")

    async def draw(_: object) -> str:
        if chosen is None:
            values = await _people(request)
        else:
            values = await _values(request, await _thread(request))
        return await request.drawn(_PIECES, {**values, "is_live": True})

    # Texts come as events; some may have come while the connection was lost.
    return request.live(draw, What.EVENTS | What.LIFE, at_once=True)


def _named(request: PageRequest) -> dict[str, str]:
    return {"conversation_id": _id(request)}


def _id(request: PageRequest) -> str:
    return request.arguments["conversation_id"]


async def _mark(request: PageRequest, **changes: object) -> None:
    await request.ask_here(conversations.MARK, **_named(request), **changes)


async def _thread(request: PageRequest) -> Thread:
    place = {"before": upto} if (upto := _upto(request)) else {}
    return await request.ask_here(conversations.GET, **_named(request), limit=MESSAGES, **place)


def _upto(request: PageRequest) -> str:
    return request.form.text("upto") if request.http.method == "GET" else ""


def _at(request: PageRequest, conversation_id: str) -> str:
    return request.at(f"conversations/{conversation_id}", **_filters(request))


def _filters(request: PageRequest) -> dict[str, str]:
    """Filters of the list: forms beside it send them too."""
    return request.form.filled("q", "show")


async def _people(request: PageRequest) -> dict[str, Any]:
    """The list of people, with the filters of the address."""
    query = _filters(request)
    places = request.form.filled("before", "after") if request.http.method == "GET" else {}
    page = await request.ask_here(
        conversations.LIST, limit=PAGE, **_asked(request, query), **places
    )
    return {
        "q": query.get("q", ""),
        "show": query.get("show", ""),
        "query": query,
        "tabs": [
            (key, request.words.among("conversations", word))
            for key, word in (("", ALL), *SHOWN.items())
        ],
        "waiting": page.waiting,
        "people": page.conversations,
        "looked_to": page.looked_to,
        "pager": pager_of(
            f"/app/{request.organization_id}/conversations",
            query,
            newer=page.newer,
            older=page.older,
        ),
        "live_at": request.at("conversations/live", **query),
        "is_live": False,
        "thread": None,
        "one": None,
        "here": lambda each: _at(request, each.id),
        "when": lambda at: _when(request, at),
        "members": await _members(request, page.conversations),
        "shown_name": lambda each: _shown_name(request, each),
        "last_line": lambda each: _last_line(request, each),
        "answered_by": lambda each: _answered_by(request, each),
        "spoken": lambda sentence: refusal_sentence(request.words, Conflict(sentence)),
    }


def _asked(request: PageRequest, query: Mapping[str, str]) -> dict[str, object]:
    """The filters as the operation has them."""
    arguments: dict[str, object] = {}
    if text := query.get("q"):
        arguments |= number_filter(request.plan, text, whole="number")
    shown = query.get("show", "")
    if shown in ("open", "done"):
        arguments |= {"state": shown}
    elif shown == "unread":
        arguments |= {"unread": True}
    elif shown == "stopped":
        arguments |= {"opted_out": True}
    elif shown == "mine":
        arguments |= {"assigned_to": request.user.id}
    return arguments


async def _values(request: PageRequest, thread: Thread) -> dict[str, Any]:
    """The page of one conversation."""
    one = thread.conversation
    texts = (await request.ask_here(recipient_lists.TEXT_LIST)).texts
    body = _body(request, texts)
    price = request.organization.price_per_segment
    if price is None:
        price = (await request.ask(PRICE)).per_segment
    abroad = await open_abroad(request, CountryUse.SEND)
    query = _filters(request)
    network, people = network_of(one.number), await _people(request)
    names = people["members"] or await _names(request)
    on = {each.id for each in thread.known.lists}
    return {
        **people,
        "programs": await _programs(request, thread.messages),
        "lists": [(each.id, each.name) for each in await _lists(request) if each.id not in on],
        "live_at": request.at(
            f"conversations/{one.id}/live", **query, **request.form.filled("upto")
        ),
        "older_at": thread.older and request.at(f"conversations/{one.id}", upto=thread.older),
        "is_newest": not _upto(request),
        "one": one,
        "thread": thread,
        "days": _days(request, thread.messages),
        "seen": thread.messages[-1].place if thread.messages else "",
        "body": body,
        "texts": texts,
        "saved": request.form.text("saved"),
        "estimate": await _estimate(request, one, body),
        "price_minor": None if request.is_self_paid else price,
        "prefixes": None if abroad is None else [each for one in abroad for each in one.prices],
        "text_max": TEXT_CHARACTERS_MAX,
        "network": None if network is None else network_name(network),
        "members": names,
        "why_not": refusal_sentence(request.words, Conflict(thread.why_not or "")),
        "all_at": request.at("messages", q=one.number),
    }


async def _members(
    request: PageRequest, people: Sequence[ConversationSummary]
) -> Mapping[str, str]:
    """The members' names by their ids; none, if nobody is assigned to these conversations."""
    return await _names(request) if any(each.assigned_to for each in people) else {}


async def _names(request: PageRequest) -> Mapping[str, str]:
    listed = (await request.ask_here(members.LIST)).members
    return {each.user_id: each.name or each.email for each in listed}


async def _programs(request: PageRequest, shown: Sequence[ThreadMessage]) -> Mapping[str, str]:
    """The names of keys by which programs sent messages of a thread."""
    if not any(each.by == "program" for each in shown):
        return {}
    listed = await request.ask_here(keys.LIST)
    return {each.id: each.name for each in listed.keys if each.name}


async def _lists(request: PageRequest) -> Sequence[RecipientList]:
    return (await request.ask_here(recipient_lists.LIST)).lists


def _body(request: PageRequest, texts: Sequence[SavedText]) -> str:
    """The answer as it was written so far, with the saved text that was just chosen."""
    if request.http.method == "GET":
        return ""
    body = request.form.text("body")
    chosen = [each.text for each in texts if each.id == request.form.text("saved")]
    if not chosen or not request.form.ticked("insert"):
        return body
    return f"{body}\n{chosen[0]}" if body else chosen[0]


async def _estimate(request: PageRequest, one: ConversationSummary, body: str) -> Estimate | None:
    if not body:
        return None
    try:
        return await request.ask_here(messages.ESTIMATE, body=body, to=one.number)
    except Refusal:  # the page shows the errors of the text itself, and of the number
        return None


def _days(
    request: PageRequest, shown: Sequence[ThreadMessage]
) -> list[tuple[Markup, list[ThreadMessage]]]:
    """The messages of a thread by the day in the organization's time zone."""
    days: list[tuple[Markup, list[ThreadMessage]]] = []
    for message in shown:
        day = request.formats.day_text(message.at)
        if not days or days[-1][0] != day:
            days.append((day, []))
        days[-1][1].append(message)
    return days


def _when(request: PageRequest, at: int) -> Markup:
    """The clock of a time of today, else the day: what a narrow list has room for."""
    formats = request.formats
    if formats.date_text(at) == formats.date_text(formats.now_ms):
        return formats.clock(at, seconds=False)
    return formats.date(at)


def _shown_name(request: PageRequest, one: ConversationSummary) -> Markup:
    return request.name_of(one.name) if one.name else request.formats.tel(one.number)


def _answered_by(request: PageRequest, message: ThreadMessage) -> Markup:
    """What wrote an automatic answer."""
    words = request.words
    if message.answer_kind == "rule" and message.answer_name:
        return words("by the rule “{name}”", name=request.name_of(message.answer_name))
    if message.answer_kind == "webhook":
        return words("by a program")
    if message.answer_kind == "forward":
        return words("a forwarded text")
    if message.answer_kind in ("opt_out", "help"):
        return words("by the opt-outs")
    return words("by itself")


def _last_line(request: PageRequest, one: ConversationSummary) -> Markup | str:
    last = one.last
    if last is None:
        return ""
    if last.body is None:
        return request.words("A code") if last.by == "code" else request.words("No longer kept")
    if last.came_in:
        return last.body
    return request.words("You: {text}", text=request.name_of(last.body))


_PAGE: Final = "/app/<org>/conversations"
_ONE: Final = f"{_PAGE}/<conversation_id>"
_WRITES: Final = PageAccess.DEVELOPER
ROUTES: Final = (
    PageRoute(
        path=_PAGE,
        view=show,
        access=PageAccess.VIEWER,
        filters=FILTERS,
        entry=NavItem("conversations", "messages", N_("Conversations"), key="r", after="inbound"),
    ),
    PageRoute(path=f"{_PAGE}/live", view=live, access=PageAccess.VIEWER, filters=FILTERS),
    PageRoute(path=_ONE, view=show_one, access=PageAccess.VIEWER, filters=(*FILTERS, UPTO)),
    PageRoute(path=f"{_ONE}/live", view=live, access=PageAccess.VIEWER, filters=(*FILTERS, UPTO)),
    PageRoute(path=_ONE, view=reply, access=_WRITES, method="POST", once=True),
    PageRoute(path=f"{_ONE}/count", view=count, access=_WRITES, method="POST"),
    PageRoute(path=f"{_ONE}/mark", view=mark, access=_WRITES, method="POST"),
    PageRoute(path=f"{_ONE}/list", view=add_to_list, access=_WRITES, method="POST"),
)
