"""The search over everything as its readers see it: a page, and the panel that ``seek.js`` opens.

Words are in the address of the page alone; nothing stores them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlsplit

from markupsafe import Markup
from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.ids import is_id
from risala.engine.model.records.search import FIND, WORDS_MAX, FoundItem, FoundItems
from risala.http.web.languages import N_, NC_
from risala.http.web.page_request import PageRequest

SHORT: Final = 2
"""Characters from which something is looked for: with fewer nearly everything fits."""
PAGES_MAX: Final = 5
"""Pages of the rail that are found by their names."""
KINDS: Final[dict[str, tuple[str, str]]] = {
    "page": ("end", NC_("found", "Pages")),
    "chapter": ("book", NC_("found", "Handbook")),
    "organization": ("org", NC_("found", "Organizations")),
    "message": ("messages", NC_("found", "Messages")),
    "verification": ("verify", NC_("found", "Verifications")),
    "conversation": ("inbox", NC_("found", "Conversations")),
    "inbound": ("inbox", NC_("found", "Texts that came in")),
    "key": ("key", NC_("found", "API keys")),
    "webhook": ("webhooks", NC_("found", "Webhook endpoints")),
    "hook": ("link", NC_("found", "Connected programs")),
    "sender": ("sender", NC_("found", "Sender IDs")),
    "list": ("lists", NC_("found", "Lists")),
    "person": ("lists", NC_("found", "People on lists")),
    "text": ("texts", NC_("found", "Saved texts")),
    "mailing": ("mailings", NC_("found", "Mailings")),
    "payment": ("billing", NC_("found", "Payments")),
    "receipt": ("billing", NC_("found", "Receipts")),
    "invoice": ("billing", NC_("found", "Invoices and credit notes")),
    "rule": ("messages", NC_("found", "Automatic answers")),
    "word": ("inbox", NC_("found", "Words of opt-outs")),
    "credential": ("key", NC_("found", "Credentials")),
    "member": ("team", NC_("found", "Members")),
    "user": ("team", NC_("found", "Users")),
    "request": ("audit", NC_("found", "Requests")),
}
"""The shape and the heading of each kind."""
OTHER: Final = ("search", NC_("found", "Other"))
_NUMBERS: Final = frozenset({"message", "verification", "conversation", "inbound", "person"})
"""Kinds whose title is a number."""
_BADGES: Final = {
    "message": {},
    "verification": {},
    "sender": {"pending": "waiting"},
    "organization": {"active": "up", "suspended": "paused", "deleted": "disabled"},
}
"""Kinds whose state is shown, and where it has another name than its badge."""
WORDS: Final = N_("Number, word, name, id or its end")


@dataclass(frozen=True, slots=True)
class FoundLine:
    """Something found, as its reader sees it."""

    kind: str
    title: Markup | str
    href: str
    note: str | None = None
    state: str | None = None
    is_test: bool = False
    organization: str | None = None
    at: Markup | None = None


@dataclass(frozen=True, slots=True)
class FoundGroup:
    shape: str
    caption: Markup
    lines: tuple[FoundLine, ...]


async def show(request: PageRequest) -> TrioResponse:
    """The page: without script the only way, and where the panel leads when it has no room."""
    text = _text(request)
    items = await _found(request, text)
    whole = text.partition("_")[0]
    if len(items.items) == 1 and is_id(text, whole):
        return request.go(_address(items.items[0]))
    return await request.page("search/page.html", **await _values(request, text, items))


async def found(request: PageRequest) -> TrioResponse:
    """What the panel shows."""
    text = _text(request)
    items = await _found(request, text)
    return await request.piece("search/found.html", **await _values(request, text, items))


def _text(request: PageRequest) -> str:
    return " ".join(request.form.text("q").split())[:WORDS_MAX].strip()


async def _found(request: PageRequest, text: str) -> FoundItems:
    if len(text) < SHORT:
        return FoundItems((), cut=False)
    if request.is_console:
        return await request.ask(FIND, query=text)
    return await request.ask_here(FIND, query=text, mode=request.mode.value)


async def _values(request: PageRequest, text: str, items: FoundItems) -> dict[str, Any]:
    named = [*_pages(request, text)]
    if len(text) >= SHORT:
        named += (await request.of_features("search", text)).get("lines", ())
    lines = [*named, *(_line(request, each) for each in items.items)]
    groups = []
    for kind, of_kind in groupby(lines, key=lambda line: line.kind):
        shape, caption = KINDS.get(kind, OTHER)
        groups.append(FoundGroup(shape, request.words.among("found", caption), tuple(of_kind)))
    return {
        "text": text,
        "groups": groups,
        "count": len(lines),
        "cut": items.cut,
        "is_short": len(text) < SHORT,
        "messages_at": None
        if request.is_console or not text
        else request.at("messages", q=text[:60]),
    }


def _pages(request: PageRequest, text: str) -> Iterator[FoundLine]:
    """The pages of the rail with the words in their name, and what can be made there."""
    part, left = text.casefold(), PAGES_MAX
    if len(text) < SHORT:
        return
    for item in (each for group in request.rail.groups for each in group.items):
        lines = [(item.label, item.slug)]
        if item.new and request.may("developer"):
            lines.append((item.new, f"{item.slug}/new"))
        for label, slug in lines:
            name = request.words(label)
            if left and part in name.casefold():
                left -= 1
                yield FoundLine("page", name, request.at(slug))


def _line(request: PageRequest, item: FoundItem) -> FoundLine:
    formats, state = request.formats, None
    if item.state is not None and item.kind in _BADGES:
        state = _BADGES.get(item.kind, {}).get(item.state, item.state)
    return FoundLine(
        kind=item.kind,
        title=formats.tel(item.title) if item.kind in _NUMBERS else item.title,
        href=_address(item),
        note=item.note if item.note != item.title else None,
        state=state,
        is_test=item.mode == "test",
        organization=item.organization,
        at=formats.clock_or_moment(item.at) if item.at else None,
    )


def _address(item: FoundItem) -> str:
    """The hit's address on this site, whichever name the site has for others."""
    url = urlsplit(item.url)
    return f"{url.path}?{url.query}" if url.query else url.path
