"""Messages: the list with its filters, all of which are in the address."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
from risala.http.web.lists.filters import choice, cursors, days, typed
from risala.http.web.lists.pager import Chip, chips, pager_of
from risala.http.web.page_request import PageRequest
from risala.http.web.routes import PageRoute
from risala.sms.cause import Cause
from risala.sms.numbering.mauritania import network_of

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
"""Those that choose rows: a file has no pages."""
LIST_FILTERS: Final = (*ROW_FILTERS, *cursors())
PAGE: Final = 50
_is_code: Final = re.compile(r"[A-Z]+[_:][A-Z0-9_:]*", re.ASCII).fullmatch
"""The format of carriers' own codes, such as ``ESME_RTHROTTLED``; no text looks like this."""


async def show(visit: PageRequest) -> TrioResponse:
    text = visit.form.text("q")
    if text.startswith("sms_"):
        return visit.go(visit.at(f"messages/{text}"))
    query = visit.form.filled(*FIELDS)
    asked = asked_for(visit, query)
    page = await visit.ask_here(message_lists.LIST, mode=visit.mode.value, limit=PAGE, **asked)
    names = (await visit.ask_here(senders.LIST)).senders
    found_keys = (await visit.ask_here(keys.LIST)).keys
    shown = {**query, "mode": "test"} if visit.mode.value == "test" else query
    return await visit.page(
        "messages/list.html",
        query=query,
        states_shown=[(each, visit.words.among("state", STATES[each])) for each in STATES],
        senders=[(each.name, each.name) for each in names],
        keys=[(each.id, each.name or f"…{each.last4}") for each in found_keys],
        chips=chips_of(visit, query, asked, {each.id: each.name or "" for each in found_keys}),
        messages=page.messages,
        rows=[_row(visit, each) for each in page.messages],
        page=page,
        export_at=visit.at("messages/export", **_filters_of(query)),
        live_at=visit.at("messages/live", **_filters_of(query), after=_newest(visit, page)),
        **_news(visit, query, NewerCount(0, more=False)),
        pager=pager_of(
            f"/app/{visit.organization_id}/messages", shown, newer=page.newer, older=page.older
        ),
    )


async def live(visit: PageRequest) -> TrioResponse:
    """New messages are announced above the list, which does not move."""
    query = visit.form.filled(*FILTERS)
    after = visit.form.text("after") or _now_key(visit)
    asked = {**asked_for(visit, query), "mode": visit.mode.value, "after": after}

    async def draw(_: object) -> str:
        found = await visit.ask_here(message_lists.NEWER, **asked)
        return await visit.drawn("messages/news.html", _news(visit, query, found))

    return visit.live(draw)


def _news(visit: PageRequest, query: Mapping[str, str], found: NewerCount) -> dict[str, Any]:
    return {"news": found, "news_at": visit.at("messages", **_filters_of(query))}


def _newest(visit: PageRequest, page: ListPage) -> str:
    """The key after which a message is new to the reader: that of the newest one shown, or of the
    current time if the page shows older ones or is empty."""
    shown = page.messages if page.newer is None else ()
    key = key_of(shown[0].id) if shown else None
    return _now_key(visit) if key is None else str(key)


def _now_key(visit: PageRequest) -> str:
    """The least key of a message accepted now."""
    return str(visit.formats.now_ms << KEY_COUNTER_BITS)


def asked_for(visit: PageRequest, query: Mapping[str, str]) -> dict[str, object]:
    """The arguments of the operation."""
    asked: dict[str, object] = {}
    if text := query.get("q"):
        try:
            asked["to"] = visit.plan.read(text)
        except ValueError:
            asked[_part_of(text)] = text.upper() if text.upper() in Cause.__members__ else text
    for name, argument in (("status", "status"), ("from", "from"), ("key", "key_id")):
        if name in query:
            asked[argument] = query[name]
    for name, later in (("since", 0), ("until", 1)):
        if (at := visit.formats.midnight(query.get(name, ""), later)) is not None:
            asked[name] = at
    for name in ("before", "after"):
        if name in query:
            asked[name] = query[name]
    return asked


def _part_of(text: str) -> str:
    """The filter for a text that is no whole number: a cause, if it looks like one, else a part."""
    return "cause" if text.upper() in Cause.__members__ or _is_code(text) else "contains"


def chips_of(
    visit: PageRequest, query: Mapping[str, str], asked: Mapping[str, Any], names: Mapping[str, str]
) -> list[Chip]:
    words, formats, labels = visit.words, visit.formats, dict[str, Markup]()
    if number := asked.get("to"):
        labels["q"] = words("To {number}", number=formats.tel(number))
    elif cause := asked.get("cause"):
        labels["q"] = words("Cause: {word}", word=visit.code(cause))
    elif part := asked.get("contains"):
        labels["q"] = words("With “{text}”", text=visit.name_of(part))
    if status := asked.get("status"):
        labels["status"] = words.among("state", STATES[status])
    if sender := asked.get("from"):
        labels["from"] = words("From {sender}", sender=visit.name_of(sender))
    if key_id := asked.get("key_id"):
        labels["key"] = words("Key {name}", name=visit.name_of(names.get(key_id) or key_id))
    if since := asked.get("since"):
        labels["since"] = words("Since {date}", date=formats.date_text(since))
    if until := asked.get("until"):
        labels["until"] = words("Until {date}", date=formats.date_text(ms_of(until) - 1))
    return chips(labels, _filters_of(query), visit.at, "messages")


def _filters_of(query: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name in FILTERS}


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


def _row(visit: PageRequest, message: Listed) -> MessageRow:
    formats, status = visit.formats, message.status
    network, body, part = network_of(message.to), message.body, message.part
    if part is not None and body is not None:
        body = part.text or body
    return MessageRow(
        state="uncertain" if message.uncertain else status,
        address=visit.at(f"messages/{message.id}"),
        to=formats.tel(message.to),
        network=None if network is None else network_name(network),
        body=body,
        part=None if part is None else part_text(visit, part),
        is_code=message.kind == "code",
        note=_note(visit, message),
        is_bad=status in ("failed", "undelivered"),
        sender=message.sender,
        segments=formats.num(message.segments),
        price=None if status in ("failed", "canceled") else formats.money(message.price, bare=True),
        at=formats.clock_or_moment(message.created_at),
    )


def _note(visit: PageRequest, message: Listed) -> Markup | str | None:
    """The note next to the state."""
    if message.uncertain:
        return visit.words("Nobody knows yet whether the carrier took it.")
    if message.status == "pending" and message.send_at:
        at = visit.formats.moment_text(message.send_at)
        return visit.words("Leaves on {time}", time=at)
    return cause_text(visit, message.error_code)


def part_text(visit: PageRequest, part: PartPlace) -> Markup:
    """Which part of a longer text a message is."""
    number, total = visit.formats.num(part.number), visit.formats.num(part.total)
    return visit.words("Part {n} of {parts}", n=number, parts=total)


def cause_text(visit: PageRequest, word: str | None) -> str | None:
    """An error code as a sentence in the reader's language."""
    if word is None or word not in Cause.__members__:
        return None
    return cause_sentence(Cause(word), visit.words.language.value)


ROUTES: Final = (
    PageRoute(
        path="/app/<org>/messages", view=show, access=PageAccess.VIEWER, filters=LIST_FILTERS
    ),
    PageRoute(
        path="/app/<org>/messages/live", view=live, access=PageAccess.VIEWER, filters=LIST_FILTERS
    ),
)
