"""Web sessions: looked up at every page, so cached; dropped when anything about them is written."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.accounts.last_uses import LastUses
from risala.engine.model.callers import Caller, CallerKind, Freshness, Role
from risala.engine.model.errors import FactorNeeded, Forbidden, NotFound, ProviderNeeded
from risala.engine.model.people import (
    AccessEnded,
    Device,
    Membership,
    ReachableOrganization,
    SessionKind,
    User,
    WebSession,
)
from risala.engine.people.tokens import PeopleSources, digest, is_token, new_token
from risala.engine.rules.people.lifetimes import FRESH_MS, is_over

CACHED_MAX: Final = 10_000
"""About 20 MB; with more people, each page of theirs costs three indexed reads."""


@dataclass(frozen=True, slots=True)
class _Known:
    device: Device
    user: User
    memberships: tuple[Membership, ...]
    stale: bool
    has_factor: bool


class WebSessions:
    def __init__(self, sources: PeopleSources) -> None:
        self._sources = sources
        self._known: OrderedDict[bytes, _Known] = OrderedDict()
        self.uses = LastUses(
            "web sessions", sources.web_sessions.touch, sources.set_aside.loop("uses")
        )

    def find(self, token: str, kind: SessionKind) -> WebSession | None:
        """The session of a token; None: not signed in. Counts as a use."""
        if not is_token(token):
            return None
        now_ms, hashed = self._sources.now_ms(), digest(token)
        known = self._known.get(hashed) or self._load(hashed, kind, now_ms)
        if known is None or known.device.kind is not kind:
            return None
        device = known.device
        if is_over(kind, device.used_at, device.expires_at, now_ms):
            self._known.pop(hashed, None)
            return None
        known = replace(known, device=replace(device, used_at=now_ms))
        if hashed in self._known:
            self._known[hashed] = known
        self.uses.note(device.id, now_ms)
        return self._view(known)

    def _load(self, hashed: bytes, kind: SessionKind, now_ms: int) -> _Known | None:
        sources = self._sources
        row = sources.web_sessions.by_hash(hashed, kind, now_ms)
        if row is None:
            return None
        user_id = row.device.user_id
        memberships = tuple(sources.members.of_user(user_id))
        has_factor = sources.users.has_factor(user_id)
        known = _Known(row.device, sources.users.user(user_id), memberships, row.stale, has_factor)
        if not row.is_previous:  # the old token of a rotation is valid only for a moment
            self._known[hashed] = known
            if len(self._known) > CACHED_MAX:
                self._known.popitem(last=False)
        return known

    def _view(self, known: _Known) -> WebSession:
        only = known.device.organization_id
        here = (each for each in known.memberships if only in (None, each.organization_id))
        places = tuple(map(self.organization, here))
        return WebSession(known.device, known.user, places, known.stale, known.has_factor)

    def organization(self, membership: Membership) -> ReachableOrganization:
        organization = self._sources.accounts.organization(membership.organization_id)
        return ReachableOrganization(
            organization.id, organization.name, organization.status, membership.role
        )

    def view(self, device: Device) -> WebSession:
        """The view of a session that was just stored."""
        memberships = tuple(self._sources.members.of_user(device.user_id))
        user = self._sources.users.user(device.user_id)
        has_factor = self._sources.users.has_factor(user.id)
        known = _Known(device, user, memberships, stale=False, has_factor=has_factor)
        return self._view(known)

    # -- lost access

    def forget(self, user_id: str) -> None:
        """Something about a user was written."""
        for hashed in [h for h, known in self._known.items() if known.user.id == user_id]:
            del self._known[hashed]

    def forget_bound(self, organization_id: str) -> None:
        """Something about an organization's identity provider was written."""
        for hashed, known in [*self._known.items()]:
            if known.device.organization_id == organization_id:
                del self._known[hashed]

    def tell_ended(self, ended: AccessEnded) -> None:
        """Notify followers who lost access, so that they end."""
        self._sources.ended.publish(ended)

    @contextmanager
    def watching(
        self, session: WebSession, organization_id: str | None = None
    ) -> Iterator[trio.Event]:
        """Inside the block: an event that is set when the session may no longer watch."""
        over = trio.Event()

        def hear(ended: AccessEnded) -> None:
            mine = ended.user_id in (None, session.user.id)
            here = organization_id is None or ended.organization_id in (None, organization_id)
            of_organization = ended.user_id is None and organization_id != ended.organization_id
            if mine and here and ended.session_id in (None, session.id) and not of_organization:
                over.set()

        with self._sources.ended.hear(hear):
            yield over

    # -- callers of pages

    def caller(self, session: WebSession, organization_id: str) -> Caller:
        """A member in one of their organizations.

        Raises:
            NotFound: they are no member of it.
            ProviderNeeded: it is entered by its identity provider, and they came otherwise.
            FactorNeeded: it demands a second factor, and they have none.
        """
        for place in session.places:
            if place.organization_id == organization_id:
                break
        else:
            raise NotFound("There is no such organization.")
        is_recovery = place.role is Role.OWNER and session.has_factor
        must_come_by_it = session.bound_to is None and not is_recovery
        if must_come_by_it and self._sources.members.requires_provider(organization_id):
            raise ProviderNeeded(organization_id)
        if not session.showed_two and self._demands_factor(organization_id):
            raise FactorNeeded
        return Caller(
            session.user.email,
            CallerKind.DASHBOARD,
            place.role,
            organization_id,
            session.user.id,
            freshness=self.freshness(session),
            bound=session.bound_to is not None,
        )

    def _demands_factor(self, organization_id: str) -> bool:
        return self._sources.accounts.organization(organization_id).factor_required

    def freshness(self, session: WebSession) -> Freshness:
        """Whether a session's user showed who they are within some minutes."""
        age_ms = self._sources.now_ms() - session.device.fresh_at
        if 0 <= age_ms < FRESH_MS:
            return Freshness.FRESH
        if session.kind is SessionKind.OPERATOR or session.has_factor or session.bound_to:
            return Freshness.STALE
        return Freshness.EXEMPT

    def operators_need_factor(self) -> bool:
        """Whether operators need a second factor: by the settings, else once one has one."""
        factors = self._sources.settings.people.operator_factors
        return self._sources.users.operators_have_factor() if factors is None else factors > 1

    def user_caller(self, session: WebSession) -> Caller:
        face = CallerKind.CONSOLE if session.kind is SessionKind.OPERATOR else CallerKind.DASHBOARD
        fresh = self.freshness(session)
        user, bound = session.user, session.bound_to is not None
        return Caller(user.email, face, Role.USER, None, user.id, freshness=fresh, bound=bound)

    def operator_caller(self, session: WebSession) -> Caller:
        """An operator, for the console.

        Raises:
            FactorNeeded: they need a second factor, and have none.
            Forbidden: the session is not an operator's.
        """
        user = session.user
        if session.kind is not SessionKind.OPERATOR or user.operator_role is None:
            raise Forbidden("This is for operators.")
        if not session.showed_two and self.operators_need_factor():
            raise FactorNeeded
        return Caller(
            user.email,
            CallerKind.CONSOLE,
            Role.OPERATOR,
            None,
            user.id,
            user.operator_role,
            freshness=self.freshness(session),
        )

    # -- writes

    async def rotate(self, token: str, kind: SessionKind) -> str | None:
        """A new token for the same session; None: no session has it, or it was just rotated."""
        session = self.find(token, kind)
        if session is None:
            return None
        new, old = new_token(), digest(token)
        now_ms = self._sources.now_ms()
        try:
            rotated = await self._sources.web_sessions.rotate(old, kind, digest(new), now_ms)
        finally:
            self.forget(session.user.id)
        return new if rotated else None

    async def sign_out(self, token: str, kind: SessionKind) -> None:
        """End the session of a token, and what it shows."""
        session = self.find(token, kind)
        if session is not None:
            user_id, session_id = session.user.id, session.id
            try:
                await self._sources.web_sessions.end(None, user_id, session_id=session_id)
            finally:
                self.forget(user_id)
                self.tell_ended(AccessEnded(user_id, session_id=session_id))
