"""A page as seen by the app: an address, the required access, and the view that answers.

Every page is in a table of these, so that a test can check the access to each.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from quart_trio.wrappers import TrioResponse

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.http.web.face import NavGroup, NavItem, PageAccess
from risala.http.web.lists import Filter
from risala.http.web.page_request import PageRequest

PageView = Callable[[PageRequest], Awaitable[TrioResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    path: str
    """In Quart's syntax: ``/app/<org>/keys/<key_id>``; pages of an organization have ``<org>``."""
    view: PageView
    access: PageAccess
    method: Literal["GET", "POST"] = "GET"
    once: bool = False
    """A POST that creates or costs something: its form carries a key, and it is done once."""
    fresh: bool = False
    """A GET that hands out much: its reader has shown within some minutes who they are."""
    before_factor: bool = False
    """Readers who need a second factor and have none may come: it is set up here."""
    takes_file: bool = False
    """A POST whose form may carry a file (:mod:`risala.http.web.files.uploading`)."""

    filters: tuple[Filter, ...] = ()
    """What the address of a GET may filter by, or where a list may begin: what of it is not
    understood is refused, and the view is not called."""
    needs: Ask[Any] | None = None
    """The operation that a page of the console is for: whose role does not allow it is refused.
    None: all operators may open it."""
    entry: NavItem | None = None
    """The page's entry in the rail; None: the face has it in its list, or the page has none."""

    def __post_init__(self) -> None:
        if self.needs is not None and self.access is not PageAccess.OPERATOR:
            raise ValueError(f"{self.path}: only pages of the console need an operation")
        if bool(self.access.roles) != ("<org>" in self.path):
            raise ValueError(f"{self.path}: a role is of the organization in the address")
        if self.once and (self.method != "POST" or self.access is PageAccess.PUBLIC):
            raise ValueError(f"{self.path}: only what somebody with an account posts is done once")
        if self.filters and self.method != "GET":
            raise ValueError(f"{self.path}: only what is read has filters")
        if self.takes_file and (self.method != "POST" or not self.access.roles):
            raise ValueError(f"{self.path}: only members of an organization post files, to it")

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def pattern(self) -> re.Pattern[str]:
        """All addresses of this route."""
        return re.compile(re.sub(r"<\w+>", "[^/]+", self.path))


def with_entries(groups: Sequence[NavGroup], routes: Iterable[PageRoute]) -> tuple[NavGroup, ...]:
    """The groups of a rail with the entries that routes bring, each right after the entry that it
    names.

    Raises:
        LookupError: there is no such entry.
    """
    items = [[*group.items] for group in groups]
    for entry in (route.entry for route in routes if route.entry is not None):
        places = [(of, item) for of in items for item in of if item.slug == entry.after]
        if not places:
            raise LookupError(f"the rail has no {entry.after!r}, after which {entry.slug!r} stands")
        of, before = places[0]
        of.insert(of.index(before) + 1, entry)
    return tuple(replace(group, items=tuple(of)) for group, of in zip(groups, items, strict=True))


def shows_form(template: str) -> PageView:
    """The view that draws a form as a page of its own."""

    async def show(request: PageRequest) -> TrioResponse:
        return await request.page(template, form=request.form)

    return show


def shows(
    template: str, values: Callable[[PageRequest], Awaitable[Mapping[str, object]]]
) -> PageView:
    """The view that draws a template with the values that ``values`` finds."""

    async def show(request: PageRequest) -> TrioResponse:
        return await request.page(template, await values(request))

    return show
