"""What a page is, to the app: an address, who may come, and the view that answers.

Every page stands in a table of these, so that a test can knock at every door there is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from quart_trio.wrappers import TrioResponse

from risala.http.web.access import PageAccess
from risala.http.web.page_request import PageRequest

PageView = Callable[[PageRequest], Awaitable[TrioResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    path: str
    """As Quart writes it: ``/app/<org>/keys/<key_id>``; that of an organization has ``<org>``."""
    view: PageView
    access: PageAccess
    method: Literal["GET", "POST"] = "GET"
    once: bool = False
    """A POST that creates or costs something: its form carries a key, and it is done once."""

    def __post_init__(self) -> None:
        if bool(self.access.roles) != ("<org>" in self.path):
            raise ValueError(f"{self.path}: a role is of the organization in the address")
        if self.once and (self.method != "POST" or self.access is PageAccess.PUBLIC):
            raise ValueError(f"{self.path}: only what somebody with an account posts is done once")

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"
