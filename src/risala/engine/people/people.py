"""People: the interface of pages and operations to users, sessions and sign-in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from risala.engine.limits.claims import TakePeople
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import Role
from risala.engine.model.commands import PeopleUse
from risala.engine.model.people import (
    AccessEnded,
    Language,
    Membership,
    ReachableOrganization,
    User,
)
from risala.engine.model.records.people.members import Invitation, MemberView, member_of
from risala.engine.model.records.people.organizations import Organization
from risala.engine.people.account import OwnAccount
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in import SignIn, address_of
from risala.engine.people.tokens import PeopleSources, new_token
from risala.engine.people.users import Users
from risala.engine.rules.people.lifetimes import INVITATION_MS


class People:
    def __init__(self, sources: PeopleSources) -> None:
        self.sources = sources
        self.derived = sources.derived
        self.sessions = WebSessions(sources)
        self.sign_in = SignIn(sources, self.sessions)
        self.account = OwnAccount(sources, self.sessions)
        self.memberships = Memberships(sources, self.sessions)
        self.users = Users(sources, self.sessions)
        self.ending = Ending(sources, self.sessions)

    @property
    def public_url(self) -> str:
        """The base URL of the pages, without a slash at its end."""
        return self.sources.public_url

    @property
    def has_mailer(self) -> bool:
        """Whether codes can be mailed; without a mailer the operator hands out links."""
        return self.sources.has_mailer

    def new_token(self) -> str:
        """For a pre-session cookie."""
        return new_token()

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


# Members of organizations: invited, accepted, given another role, removed.


class Memberships:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._sources = sources
        self._sessions = sessions

    # -- reading

    def members(self, organization_id: str) -> Sequence[MemberView]:
        """All members, the oldest membership first.

        Raises:
            NotFound: the organization does not exist.
        """
        return [self._view(each) for each in self._sources.members.of_organization(organization_id)]

    def member(self, organization_id: str, user_id: str) -> MemberView:
        """Raises ``NotFound`` if they are no member."""
        return self._view(self._sources.members.member(organization_id, user_id))

    def _view(self, membership: Membership) -> MemberView:
        user = self._sources.users.user(membership.user_id)
        version = self._sources.audit.version_of(user.id, "member", membership.organization_id)
        return member_of(membership, user, version)

    def organizations(self, user_id: str) -> Sequence[ReachableOrganization]:
        """Organizations that a user is a member of."""
        reachable = self._sources.members.of_user(user_id)
        return [self._sessions.organization(each) for each in reachable]

    def invitations(self, organization_id: str) -> Sequence[Invitation]:
        """The organization's invitations without an answer yet; for a time also those that are too
        old by now."""
        return self._sources.members.invitations_of(organization_id, self._sources.now_ms())

    def invitations_to(self, email: str) -> Sequence[Invitation]:
        return self._sources.members.invitations_to(email, self._sources.now_ms())

    # -- a user's own organization

    async def found(self, user_id: str, name: str, by: AuditEntry) -> Organization:
        """Make an organization with the user as its owner.

        Raises:
            Invalid: the name is empty or too long.
            RateLimited, Conflict: they made too many.
        """
        sources = self._sources
        drafted = sources.accounts.draft_organization(name, sources.settings.service.currency)
        await sources.limits.ask(TakePeople(((PeopleUse.ORGANIZATION, user_id),)))
        with self._changing(user_id):
            return await sources.members.found(by, user_id, drafted, sources.now_ms())

    # -- invitations

    async def invite(
        self, organization_id: str, email: str, role: Role, who: str, actor_id: str | None,
        by: AuditEntry,
    ) -> Invitation:  # fmt: skip
        """Invite the reader of an address; a repeated call sends the invitation again.

        Args:
            actor_id: the owner who invites; None: the operator.

        Raises:
            Invalid: it is no address.
            RateLimited: the organization, the actor or all together invited too many within an hour
                or a day, or this address was invited too often.
            Conflict: they are already a member, or there are too many.
            Forbidden: the actor is no longer an owner.
        """
        sources, address, now_ms = self._sources, address_of(email), self._sources.now_ms()
        organization = sources.accounts.organization(organization_id)
        uses: tuple[tuple[PeopleUse, str | None], ...] = (
            (PeopleUse.INVITATION, organization_id),
            (PeopleUse.INVITED, address),
            (PeopleUse.INVITATION_ALL, None),
        )
        if actor_id is not None:
            uses = ((PeopleUse.INVITER, actor_id), *uses)
        await sources.limits.ask(TakePeople(uses))
        new = Invitation(
            id=sources.ids.new("inv"),
            organization_id=organization_id,
            organization_name=organization.name,
            email=address,
            role=role,
            invited_by=who,
            created_at=now_ms,
            expires_at=now_ms + INVITATION_MS,
        )
        stored = await sources.members.invite(by, new, actor_id)
        sources.owed()
        return stored

    async def uninvite(
        self, organization_id: str, invitation_id: str, actor_id: str | None, by: AuditEntry
    ) -> Invitation:
        """Withdraw an invitation, or remove one that is too old.

        Raises:
            NotFound: the organization has no such invitation.
            Forbidden: the actor is no longer an owner.
        """
        uninvite = self._sources.members.uninvite
        return await uninvite(by, organization_id, invitation_id, actor_id)

    async def accept(
        self, user_id: str, invitation_id: str, by: AuditEntry
    ) -> ReachableOrganization:
        """Become a member by an invitation to one's own address.

        Raises:
            NotFound: they have no such invitation.
            Conflict: they are already a member, or there are too many.
        """
        now_ms = self._sources.now_ms()
        with self._changing(user_id):
            new = await self._sources.members.accept(by, user_id, invitation_id, now_ms)
        return self._sessions.organization(new)

    async def decline(self, user_id: str, invitation_id: str, by: AuditEntry) -> Invitation:
        """Raises ``NotFound`` if they have no such invitation."""
        now_ms = self._sources.now_ms()
        return await self._sources.members.decline(by, user_id, invitation_id, now_ms)

    # -- members

    async def add(self, organization_id: str, email: str, role: Role, by: AuditEntry) -> MemberView:
        """Make a person a member on the operator's behalf, and a user if they are none yet.

        Raises:
            Invalid: it is no address.
            NotFound: the organization does not exist.
            Conflict: they are already a member, or there are too many.
        """
        sources, now_ms = self._sources, self._sources.now_ms()
        address, new_id = address_of(email), sources.ids.new("usr")
        new = User(new_id, address, "", Language.FRENCH, False, now_ms, now_ms, None)
        made = await sources.members.add(by, organization_id, new, role, now_ms)
        self._sessions.forget(made.user_id)
        return self.member(organization_id, made.user_id)

    async def set_role(
        self, organization_id: str, user_id: str, role: Role, actor_id: str | None, by: AuditEntry
    ) -> MemberView:
        """Give a member another role; their cookies are renewed, and what they follow ends.

        Raises:
            NotFound: they are no member.
            Conflict: no owner would be left, or another change came meanwhile.
            Forbidden: the actor is no longer an owner.
        """
        role_change = (organization_id, user_id, role, actor_id, self._sources.now_ms())
        with self._changing(user_id, organization_id):
            await self._sources.members.set_role(by, *role_change)
        return self.member(organization_id, user_id)

    async def remove(
        self, organization_id: str, user_id: str, actor_id: str | None, by: AuditEntry
    ) -> MemberView:
        """End a membership; what they follow there ends.

        Raises:
            NotFound: they are no member.
            Conflict: no owner would be left, or another change came meanwhile.
            Forbidden: the actor is no longer an owner.
        """
        gone = self.member(organization_id, user_id)
        with self._changing(user_id, organization_id):
            await self._sources.members.remove(by, organization_id, user_id, actor_id)
        return gone

    async def leave(self, organization_id: str, user_id: str, by: AuditEntry) -> None:
        """End one's own membership.

        Raises:
            NotFound: they are no member there.
            Conflict: no owner would be left.
        """
        with self._changing(user_id, organization_id):
            await self._sources.members.leave(by, organization_id, user_id)

    @contextmanager
    def _changing(self, user_id: str, left: str | None = None) -> Iterator[None]:
        """A block for writes that change what a user may do.

        Args:
            left: the organization in which they lose their former rights.
        """
        try:
            yield
        finally:
            self._sessions.forget(user_id)
        if left is not None:
            self._sessions.tell_ended(AccessEnded(user_id, left))
