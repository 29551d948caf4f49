"""A face: pages that belong together, with a way in, sessions and a rail of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import Final

from risala.config.model import Settings
from risala.dataclass import dataclass
from risala.engine.model.callers import Role
from risala.engine.model.people import SessionKind

# Who may open a page.


class PageAccess(StrEnum):
    """The readers who may open a page. Each role of an organization includes the roles below it."""

    PUBLIC = "public"
    SIGNED_IN = "signed-in"
    """Anyone with an account, in any organization."""
    OPERATOR = "operator"
    """The operators of the service, with a session of the console."""
    VIEWER = "viewer"
    DEVELOPER = "developer"
    OWNER = "owner"

    @property
    def roles(self) -> frozenset[Role]:
        """The roles in the organization of the address; empty: a page without an organization."""
        return _ROLES[self]


_ROLES: Final = {
    PageAccess.PUBLIC: frozenset[Role](),
    PageAccess.SIGNED_IN: frozenset[Role](),
    PageAccess.OPERATOR: frozenset[Role](),
    PageAccess.VIEWER: frozenset({Role.VIEWER, Role.DEVELOPER, Role.OWNER}),
    PageAccess.DEVELOPER: frozenset({Role.DEVELOPER, Role.OWNER}),
    PageAccess.OWNER: frozenset({Role.OWNER}),
}


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
    after: str = ""
    """The slug of the entry before it; only where the page's route brings the entry."""
    new: str = ""
    """What its page ``new`` does, which developers open; empty: it has none."""


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
