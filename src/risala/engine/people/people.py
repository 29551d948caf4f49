"""People: the interface of pages and operations to users, sessions and sign-in."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager

import trio

from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import Caller
from risala.engine.model.people import (
    AccessEnded,
    Browser,
    CodeAsked,
    Denied,
    FactorAwaited,
    LinkView,
    SessionKind,
    SignedIn,
    WebSession,
)
from risala.engine.people.account import OwnAccount
from risala.engine.people.memberships import Memberships
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in import SignIn
from risala.engine.people.sources import PeopleSources
from risala.engine.people.tokens import new_token
from risala.engine.people.users import Users


class People:
    def __init__(self, sources: PeopleSources) -> None:
        self.sources = sources
        self.sessions = WebSessions(sources)
        self.sign_in = SignIn(sources, self.sessions)
        self.account = OwnAccount(sources, self.sessions)
        self.memberships = Memberships(sources, self.sessions)
        self.users = Users(sources, self.sessions)
        self.ending = Ending(sources, self.sessions)

    def mail_is_owed(self) -> None:
        """Called by others when they have queued a mail."""
        self.sources.owed()

    @property
    def public_url(self) -> str:
        """The base URL of the pages, without a slash at its end."""
        return self.sources.public_url

    @property
    def has_mailer(self) -> bool:
        """Whether codes can be mailed; without a mailer the operator hands out links."""
        return self.sources.has_mailer

    # -- tokens of browsers

    def new_token(self) -> str:
        """For a pre-session cookie."""
        return new_token()

    def form_token(self, cookie: str) -> str:
        """The CSRF token that belongs to a cookie, for the forms of a page."""
        return self.sources.derived.form_token(cookie)

    def is_form_token(self, cookie: str, form_token: str) -> bool:
        """Compared in constant time."""
        return self.sources.derived.is_form_token(cookie, form_token)

    # -- signing in

    async def begin(
        self, browser: Browser, email: str, kind: SessionKind = SessionKind.CUSTOMER
    ) -> CodeAsked:
        """See :meth:`SignIn.begin`."""
        return await self.sign_in.begin(browser, email, kind)

    def pending(self, token: str) -> CodeAsked | None:
        """What a browser waits for, by its pre-session cookie."""
        return self.sign_in.pending(token)

    async def finish(
        self, browser: Browser, code: str, kind: SessionKind = SessionKind.CUSTOMER
    ) -> SignedIn | FactorAwaited | Denied:
        """See :meth:`SignIn.finish`."""
        return await self.sign_in.finish(browser, code, kind)

    def peek_link(self, token: str) -> LinkView | None:
        """The purpose of a link; does not use it up."""
        return self.sign_in.peek_link(token)

    async def use_link(
        self, token: str, browser: Browser, kind: SessionKind = SessionKind.CUSTOMER
    ) -> SignedIn | FactorAwaited | None:
        """See :meth:`SignIn.use_link`."""
        return await self.sign_in.use_link(token, browser, kind)

    async def ask_code(self, session: WebSession, browser: Browser) -> None:
        """See :meth:`SignIn.ask_code`."""
        await self.sign_in.ask_code(session, browser)

    async def freshen_by_code(
        self, session: WebSession, browser: Browser, code: str
    ) -> bool | Denied:
        """See :meth:`SignIn.freshen_by_code`."""
        return await self.sign_in.freshen_by_code(session, browser, code)

    # -- signed in

    def session(self, token: str, kind: SessionKind) -> WebSession | None:
        """The session of a cookie; None: not signed in. Counts as a use."""
        return self.sessions.find(token, kind)

    async def rotate(self, token: str, kind: SessionKind) -> str | None:
        """A new cookie for the same session; the old one is valid a moment longer."""
        return await self.sessions.rotate(token, kind)

    async def sign_out(self, token: str, kind: SessionKind) -> None:
        """End the session of a cookie."""
        await self.sessions.sign_out(token, kind)

    def caller(self, session: WebSession, organization_id: str) -> Caller:
        """The member that a page acts as. Raises ``NotFound`` if they are none."""
        return self.sessions.caller(session, organization_id)

    def user_caller(self, session: WebSession) -> Caller:
        """The caller for the pages of one's own account."""
        return self.sessions.user_caller(session)

    def operator_caller(self, session: WebSession) -> Caller:
        """The caller for the console. Raises ``Forbidden``."""
        return self.sessions.operator_caller(session)

    def watching(
        self, session: WebSession, organization_id: str | None = None
    ) -> AbstractContextManager[trio.Event]:
        """Inside the block: an event that is set when the session may no longer watch."""
        return self.sessions.watching(session, organization_id)

    def organization_deleted(self, organization_id: str, users: Iterable[str]) -> None:
        """Note that an organization was deleted: its members are read again, and what they follow
        ends."""
        for user_id in users:
            self.sessions.forget(user_id)
        self.organization_changed(organization_id)

    def organization_changed(self, organization_id: str) -> None:
        """Note that an organization was suspended or resumed: what its members follow ends, and
        begins again."""
        self.sessions.tell_ended(AccessEnded(organization_id=organization_id))


# Deletes a user: name and address, and everything that lets them sign in.


class Ending:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._sources = sources
        self._sessions = sessions

    def owned_alone(self, user_id: str) -> list[str]:
        """The ids of organizations that would be left without an owner."""
        return self._sources.users.owned_alone(user_id)

    async def delete(self, user_id: str, by: AuditEntry) -> None:
        """Delete a user; all their sessions end at once.

        Raises:
            NotFound: no user has this id.
            Conflict: an organization would be left without an owner.
        """
        try:
            await self._sources.users.delete(by, user_id)
        finally:
            self._sessions.forget(user_id)
        self._sessions.tell_ended(AccessEnded(user_id))
