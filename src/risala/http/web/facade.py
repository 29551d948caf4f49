"""The engine as pages use it: the shape of the gateway, and of its part for people.

Protocols, so that a test can use a small real class instead.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

import trio

from risala.engine.model.callers import Caller
from risala.engine.model.following import Told, What
from risala.engine.model.people import (
    Browser,
    CodeAsked,
    Denied,
    FactorAwaited,
    LinkView,
    SessionKind,
    SignedIn,
    WebSession,
)
from risala.engine.model.records.asks import Ask, FeatureAccess, Versioned
from risala.engine.model.records.payer import PartsToday
from risala.plugins.page import ConsolePages

R = TypeVar("R")


class SignInAccess(Protocol):
    """The part that handles raw tokens and codes; other actions of people are operations."""

    @property
    def public_url(self) -> str:
        """The public address of the pages."""

    @property
    def has_mailer(self) -> bool:
        """Whether mails are sent."""

    def new_token(self) -> str:
        """The token for the cookie of a browser without a session."""

    def form_token(self, cookie: str, /) -> str:
        """The mark of forms that are drawn for the holder of a cookie."""

    def is_form_token(self, cookie: str, token: str, /) -> bool: ...

    async def begin(self, browser: Browser, email: str, kind: SessionKind = ..., /) -> CodeAsked:
        """Mail a code. Raises ``Invalid``, ``RateLimited``, ``Unavailable``."""

    def pending(self, token: str, /) -> CodeAsked | None:
        """The code that this browser asked for."""

    async def finish(
        self, browser: Browser, code: str, kind: SessionKind, /
    ) -> SignedIn | FactorAwaited | Denied:
        """Judge a code. Raises ``RateLimited``, ``Forbidden``, ``Unavailable``."""

    async def ask_code(self, session: WebSession, browser: Browser, /) -> None:
        """Mail a code to a signed-in user without a factor, who then shows who they are. Raises as
        ``begin``."""

    async def freshen_by_code(
        self, session: WebSession, browser: Browser, code: str, /
    ) -> bool | Denied:
        """Judge that code. Raises as ``finish``."""

    def session(self, token: str, kind: SessionKind, /) -> WebSession | None:
        """The user signed in by this cookie."""

    async def rotate(self, token: str, kind: SessionKind, /) -> str | None:
        """Give the cookie of a session a new value, and return it."""

    async def sign_out(self, token: str, kind: SessionKind, /) -> None: ...

    def caller(self, session: WebSession, organization_id: str, /) -> Caller:
        """Raises ``NotFound`` for a user who is no member."""

    def user_caller(self, session: WebSession, /) -> Caller: ...

    def operator_caller(self, session: WebSession, /) -> Caller:
        """Raises ``Forbidden`` for a user who is no operator."""

    def watching(
        self, session: WebSession, organization_id: str | None = ..., /
    ) -> AbstractContextManager[trio.Event]:
        """Set when the session may no longer see it."""

    def peek_link(self, token: str, /) -> LinkView | None: ...

    async def use_link(
        self, token: str, browser: Browser, kind: SessionKind, /
    ) -> SignedIn | FactorAwaited | None: ...


class PageFollower(Protocol):
    async def __anext__(self) -> Told: ...

    def skip(self) -> None:
        """Drop the pending events: the reader looks at the current state."""

    def close(self) -> None: ...


class WebGateway(Protocol):
    @property
    def people(self) -> SignInAccess: ...

    def access(self, of: FeatureAccess[R], /) -> R:
        """What a feature offers that is no operation. Raises ``NotFound`` if it is not there."""

    @property
    def console_pages(self) -> ConsolePages:
        """The plugins' contributions to the operator's console."""

    async def perform(
        self, name: str, arguments: dict[str, Any], caller: Caller, /
    ) -> dict[str, Any]:
        """One operation, JSON in and out. Raises ``Refusal``, also without permission."""

    async def ask(self, ask: Ask[R], arguments: dict[str, Any], caller: Caller, /) -> Versioned[R]:
        """One operation with a typed answer. Raises as :meth:`perform`."""

    @property
    def is_self_paid(self) -> bool:
        """Whether nobody pays for messages: then there is no balance."""

    def parts_today(self, organization_id: str, /) -> PartsToday | None:
        """What an organization has sent today, of what it may; None: customers pay instead."""

    def console_lock(self) -> str | None:
        """The only address, or network, that the console answers; None: all."""

    async def permitted(self, caller: Caller, /) -> frozenset[str]:
        """The names of the operations that are for the caller's role."""

    async def receive_upload(
        self, organization_id: str, chunks: AsyncIterator[bytes], name: str, caller: Caller, /
    ) -> str:
        """Store a file; returns the id of the upload. Raises ``Refusal`` for one that is too large,
        and where too many wait."""

    def follow(
        self, what: What, organization_id: str | None = ..., position: str | None = ..., /
    ) -> AbstractContextManager[PageFollower]: ...
