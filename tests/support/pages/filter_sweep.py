"""Every filter of every list, with texts that it cannot understand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from risala.engine.model.callers import Caller
from risala.engine.model.errors import Invalid
from risala.http.web.lists import MODE, Filter, FilterKind
from risala.http.web.routes import PageRoute
from web_browser import Page
from web_people import FakeWebGateway

GARBAGE: Final = ("zzz-nonsense", "42", "'; --", "٣٣", "2026-02-31", "-1", "9" * 40, "null\t!")
UNDERSTOOD: Final = {
    FilterKind.WORDS: ("-1", "42"),  # ids may have any two digits
    FilterKind.COUNT: ("42",),
    FilterKind.PLACE: ("42", "9" * 40),
}
"""What is a place after all: behind it there may be nothing, or everything."""
OPEN: Final = {FilterKind.WORDS, FilterKind.PLACE}
"""Filters of which only the operation knows whether they are understood."""
NO_LIST: Final = {
    "next",  # sign-in: where its reader goes on to
    "event",  # a webhook's delivery that is opened
    "id",  # of a download that is watched
    "email",  # of the user who is shown
    "number",  # of the person who is to be forgotten
    "to",  # of the question which carrier a number takes, and the recipient of a new message
}
"""Fields of addresses that choose no rows."""


def cases(routes: Iterable[PageRoute]) -> Iterator[tuple[PageRoute, Filter, str]]:
    for route in routes:
        for one in (*route.filters, MODE) if route.filters else ():
            if route.path.endswith("/live") and one.kind in OPEN:
                continue  # what is understood opens a stream, which does not end
            for text in GARBAGE:
                if text not in UNDERSTOOD.get(one.kind, ()):
                    yield route, one, text


def is_refused(page: Page) -> bool:
    return page.status == 422 and "This filter is not understood" in page.text


def rows_of(page: Page) -> int:
    """The rows of its tables, without headings."""
    bodies = re.findall(r"<tbody.*?</tbody>", page.text, re.DOTALL)
    return sum(each.count('<tr role="row">') for each in bodies)


def undeclared(page: Page, routes: Iterable[PageRoute]) -> set[tuple[str, str]]:
    """Fields of a page's search forms, and what its chips and buttons filter by, that the route
    which they lead to does not know."""
    known = [*routes]
    found: set[tuple[str, str]] = set()
    for path, names in _asked(page):
        for route in known:
            if route.method == "GET" and route.pattern.fullmatch(path):
                declared = {each.name for each in (*route.filters, MODE)}
                found |= {(route.path, name) for name in names - declared - NO_LIST}
                break
    return found


def _asked(page: Page) -> Iterator[tuple[str, set[str]]]:
    for form in re.findall(r'<form[^>]*method="get".*?</form>', page.text, re.DOTALL):
        action = re.search(r'action="([^"]*)"', form)
        fields = re.findall(r'<(?:input|select)[^>]*?\bname="([^"]+)"', form, re.DOTALL)
        yield urlsplit(action[1] if action else "").path, {*fields}
    for chip in re.findall(r'class="(?:chip|btn sm)" href="([^"]+)"', page.text):
        address = urlsplit(chip.replace("&amp;", "&"))
        yield address.path, {each.partition("=")[0] for each in address.query.split("&") if each}


def refuse_place(gateway: FakeWebGateway, beginning: str) -> None:
    """Operations whose names begin so take no place from now on."""
    perform = gateway.perform

    async def refuse(name: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        if name.startswith(beginning) and {"before", "after", "older"}.intersection(arguments):
            raise Invalid("before", "invalid_cursor", "Take `before` from another page.")
        return await perform(name, arguments, caller)

    gateway.perform = refuse
