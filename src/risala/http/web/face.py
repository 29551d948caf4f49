"""A face: pages that belong together, with a way in, sessions and a rail of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from risala.config.model import Settings
from risala.engine.model.people import SessionKind
from risala.http.web.access import PageAccess


@dataclass(frozen=True, slots=True)
class NavItem:
    slug: str
    """Below the organization's address."""
    icon: str
    label: str
    access: PageAccess = PageAccess.VIEWER
    short: str | None = None
    """For the dock of a phone; None: it is not there."""
    key: str = ""
    """After `g`: leads there."""
    counts: str = ""
    """What of :attr:`Visit.waiting` stands beside it."""


@dataclass(frozen=True, slots=True)
class NavGroup:
    title: str | None
    items: tuple[NavItem, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rail:
    """What readers of one role find in the rail: one object for all of them, so that what is drawn
    of it is drawn once."""

    groups: tuple[NavGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebFace:
    """What the pages of one face have in common."""

    templates: Sequence[Path]
    kind: SessionKind
    root: str
    """Before the addresses of signing in and of a reader's choices; empty, or ``/operator``."""
    home: str
    """Where those come who have signed in."""
    frame: str
    """The template around the pages of those who are inside."""
    navigation: Sequence[NavGroup]
    """What its rail and its dock list."""
    first: Sequence[str] = ()
    """Where somebody who chose an organization comes: to the first of these that there is."""

    @property
    def sign_in(self) -> str:
        return f"{self.root}/sign-in"


def again_path(root: str) -> str:
    """Where somebody comes back to what they wrote when their session had ended."""
    return f"{root or '/app'}/again"


def address_of(settings: Settings, kind: SessionKind) -> str | None:
    """Where people find the pages of a kind; None: the operator has not said it."""
    http = settings.http
    if kind is SessionKind.CUSTOMER:
        return http.public_url
    if http.console_url is not None or http.console_bind is not None:
        return http.console_url  # at an address of its own nothing is to be had of the customers'
    return http.public_url
