"""Messages: the list with its filters, all of which are in the address."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.engine.model.cause_sentences import cause_sentence
from risala.engine.model.ids import KEY_COUNTER_BITS, key_of
from risala.engine.model.records import keys, message_lists, senders
from risala.engine.model.records.message_lists import Listed, ListPage, NewerCount, PartPlace
from risala.http.web.face import PageAccess
from risala.http.web.formats import ms_of
from risala.http.web.languages import N_, NC_, network_name
from risala.http.web.lists import Chip, chips, choice, cursors, days, pager_of, typed
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.sms.cause import Cause
from risala.sms.numbering.countries import network_of

STATES: Final = {
    "pending": NC_("state", "Pending"),
    "processing": NC_("state", "Processing"),
    "uncertain": NC_("state", "Uncertain"),
    "sent": NC_("state", "Sent"),
    "delivered": NC_("state", "Delivered"),
    "undelivered": NC_("state", "Undelivered"),
    "failed": NC_("state", "Failed"),
    "canceled": NC_("state", "Canceled"),
}
FIELDS: Final = ("q", "status", "from", "key", "since", "until", "before", "after")
FILTERS: Final = tuple(name for name in FIELDS if name not in ("before", "after"))
"""The place in the list is not a filter."""
ROW_FILTERS: Final = (
    typed("q", N_("Number, text, id or cause"), "to", "contains", "cause"),
    choice("status", N_("State"), STATES),
    typed("from", N_("Sender")),
    typed("key", N_("Key"), "key_id"),
    *days(),
)
"""The filters that choose rows: a file has no pages."""
LIST_FILTERS: Final = (*ROW_FILTERS, *cursors())
PAGE: Final = 50
_is_code: Final = re.compile(r"[A-Z]+[_:][A-Z0-9_:]*", re.ASCII).fullmatch
"""The format of carriers' own codes, such as ``ESME_RTHROTTLED``; no text looks like this."""


async def show(request: PageRequest) -> TrioResponse:
    text = request.form.text("q")
    if text.startswith("sms_"):
        return request.go(request.at(f"messages/{text}"))
    query = request.form.filled(*FIELDS)
    arguments = asked_for(request, query)
    page = await request.ask_here(
        message_lists.LIST, mode=request.mode.value, limit=PAGE, **arguments
    )
    names = (await request.ask_here(senders.LIST)).senders
    found_keys = (await request.ask_here(keys.LIST)).keys
    shown = {**query, "mode": "test"} if request.mode.value == "test" else query
    return await request.page(
        "messages/list.html",
        query=query,
        states_shown=[(each, request.words.among("state", STATES[each])) for each in STATES],
        senders=[(each.name, each.name) for each in names],
        keys=[(each.id, each.name or f"…{each.last4}") for each in found_keys],
        chips=chips_of(
            request, query, arguments, {each.id: each.name or "" for each in found_keys}
        ),
        messages=page.messages,
        days=_days(request, page.messages),
        page=page,
        export_at=request.at("messages/export", **_filters_of(query)),
        live_at=request.at("messages/live", **_filters_of(query), after=_newest(request, page)),
        **_news(request, query, NewerCount(0, more=False)),
        pager=pager_of(
            f"/app/{request.organization_id}/messages", shown, newer=page.newer, older=page.older
        ),
    )


async def live(request: PageRequest) -> TrioResponse:
    """New messages are announced above the list, which does not move."""
    query = request.form.filled(*FILTERS)
    after = request.form.text("after") or _now_key(request)
    arguments = {**asked_for(request, query), "mode": request.mode.value, "after": after}

    async def draw(_: object) -> str:
        newer = await request.ask_here(message_lists.NEWER, **arguments)
        return await request.drawn("messages/news.html", _news(request, query, newer))

    return request.live(draw)


def _news(request: PageRequest, query: Mapping[str, str], news: NewerCount) -> dict[str, Any]:
    return {"news": news, "news_at": request.at("messages", **_filters_of(query))}


def _newest(request: PageRequest, page: ListPage) -> str:
    """The key after which a message is new to the reader: that of the newest one shown, or of the
    current time if the page shows older ones or is empty."""
    shown = page.messages if page.newer is None else ()
    key = key_of(shown[0].id) if shown else None
    return _now_key(request) if key is None else str(key)


def _now_key(request: PageRequest) -> str:
    """The least key of a message accepted now."""
    return str(request.formats.now_ms << KEY_COUNTER_BITS)


def asked_for(request: PageRequest, query: Mapping[str, str]) -> dict[str, object]:
    """The arguments of the operation."""
    arguments: dict[str, object] = {}
    if text := query.get("q"):
        try:
            arguments["to"] = request.plan.read(text)
        except ValueError:
            arguments[_part_of(text)] = text.upper() if text.upper() in Cause.__members__ else text
    for name, argument in (("status", "status"), ("from", "from"), ("key", "key_id")):
        if name in query:
            arguments[argument] = query[name]
    for name, later in (("since", 0), ("until", 1)):
        if (at := request.formats.midnight(query.get(name, ""), later)) is not None:
            arguments[name] = at
    for name in ("before", "after"):
        if name in query:
            arguments[name] = query[name]
    return arguments


def _part_of(text: str) -> str:
    """The filter for a text that is no whole number: a cause, if it looks like one, else a part."""
    return "cause" if text.upper() in Cause.__members__ or _is_code(text) else "contains"


def chips_of(
    request: PageRequest,
    query: Mapping[str, str],
    arguments: Mapping[str, Any],
    names: Mapping[str, str],
) -> list[Chip]:
    words, formats, labels = request.words, request.formats, dict[str, Markup]()
    if number := arguments.get("to"):
        labels["q"] = words("To {number}", number=formats.tel(number))
    elif cause := arguments.get("cause"):
        labels["q"] = words("Cause: {word}", word=request.code(cause))
    elif part := arguments.get("contains"):
        labels["q"] = words("With “{text}”", text=request.name_of(part))
    if status := arguments.get("status"):
        labels["status"] = words.among("state", STATES[status])
    if sender := arguments.get("from"):
        labels["from"] = words("From {sender}", sender=request.name_of(sender))
    if key_id := arguments.get("key_id"):
        labels["key"] = words("Key {name}", name=request.name_of(names.get(key_id) or key_id))
    if since := arguments.get("since"):
        labels["since"] = words("Since {date}", date=formats.date_text(since))
    if until := arguments.get("until"):
        labels["until"] = words("Until {date}", date=formats.date_text(ms_of(until) - 1))
    return chips(labels, _filters_of(query), request.at, "messages")


def _filters_of(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name in FILTERS}


def _days(
    request: PageRequest, messages: Sequence[Listed]
) -> list[tuple[Markup, list[MessageRow]]]:
    """The rows under the day on which their messages were accepted."""
    days: list[tuple[Markup, list[MessageRow]]] = []
    for message in messages:
        day = request.formats.day_text(message.created_at)
        if not days or days[-1][0] != day:
            days.append((day, []))
        days[-1][1].append(_row(request, message))
    return days


class MessageRow(NamedTuple):
    """A message as its reader sees it in the list. Made by the hundred, and so a tuple."""

    state: str
    address: str
    to: Markup
    network: str | None
    body: str | None
    part: Markup | None
    """The part number; None: the whole text."""
    is_code: bool
    note: Markup | str | None
    is_bad: bool
    sender: str
    segments: Markup
    price: Markup | None
    """None: free."""
    at: Markup


def _row(request: PageRequest, message: Listed) -> MessageRow:
    formats, status = request.formats, message.status
    network, body, part = network_of(message.to), message.body, message.part
    if part is not None and body is not None:
        body = part.text or body
    return MessageRow(
        state="uncertain" if message.uncertain else status,
        address=request.at(f"messages/{message.id}"),
        to=formats.tel(message.to),
        network=None if network is None else network_name(network),
        body=body,
        part=None if part is None else part_text(request, part),
        is_code=message.kind == "code",
        note=_note(request, message),
        is_bad=status in ("failed", "undelivered"),
        sender=message.sender,
        segments=formats.num(message.segments),
        price=None if status in ("failed", "canceled") else formats.money(message.price, bare=True),
        at=formats.clock(message.created_at),
    )


def _note(request: PageRequest, message: Listed) -> Markup | str | None:
    """The note next to the state."""
    if message.uncertain:
        return request.words("Nobody knows yet whether the carrier took it.")
    if message.status == "pending" and message.send_at:
        at = request.formats.moment_text(message.send_at)
        return request.words("Leaves on {time}", time=at)
    return cause_text(request, message.error_code)


def part_text(request: PageRequest, part: PartPlace) -> Markup:
    """Which part of a longer text a message is."""
    number, total = request.formats.num(part.number), request.formats.num(part.total)
    return request.words("Part {n} of {parts}", n=number, parts=total)


def cause_text(request: PageRequest, word: str | None) -> str | None:
    """An error code as a sentence in the reader's language."""
    if word is None or word not in Cause.__members__:
        return None
    return cause_sentence(Cause(word), request.words.language.value)


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/messages", view=show, access=PageAccess.VIEWER, filters=LIST_FILTERS
    ),
    PageRoute(
        path="/app/<org>/messages/live", view=live, access=PageAccess.VIEWER, filters=LIST_FILTERS
    ),
)
