"""A face: pages that belong together, with a way in, sessions and a rail of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from risala.config.model import Settings
from risala.dataclass import dataclass
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
    """For the dock of a phone; None: not in the dock."""
    key: str = ""
    """After `g`: leads there."""
    counts: str = ""
    """The number of :attr:`Visit.waiting` shown next to it."""


@dataclass(frozen=True, slots=True)
class NavGroup:
    title: str | None
    items: tuple[NavItem, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rail:
    """The rail of readers of one role: one object for all of them, so that its parts are drawn
    once."""

    groups: tuple[NavGroup, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebFace:
    """The common parts of the pages of one face."""

    templates: Sequence[Path]
    kind: SessionKind
    root: str
    """Before the addresses of signing in and of a reader's choices; empty, or ``/operator``."""
    home: str
    """The first page after signing in."""
    frame: str
    """The template around the pages for signed-in readers."""
    navigation: Sequence[NavGroup]
    """The entries of its rail and its dock."""
    within: Mapping[str, str] = field(default_factory=dict)
    """Pages without an entry: by their slug, that of the entry that is the current one there."""
    of_money: frozenset[str] = frozenset()
    """Pages that are only there while customers pay, by their slug."""
    first: Sequence[str] = ()
    """The page after an organization was chosen: the first of these that exists."""

    @property
    def sign_in(self) -> str:
        return f"{self.root}/sign-in"


def again_path(root: str) -> str:
    """The path where readers return to a form that they sent after their session had ended."""
    return f"{root or '/app'}/again"


def security_path(root: str) -> str:
    """The path of a reader's second factors."""
    return f"{root}/account/security"


def fresh_path(root: str) -> str:
    """The path where readers show once more who they are."""
    return f"{root}/account/fresh"


def address_of(settings: Settings, kind: SessionKind) -> str | None:
    """The public address of the pages of a kind; None: not set by the operator."""
    http = settings.http
    if kind is SessionKind.CUSTOMER:
        return http.public_url
    if http.console_url is not None or http.console_bind is not None:
        return http.console_url  # a separate console address serves no customer page
    return http.public_url
