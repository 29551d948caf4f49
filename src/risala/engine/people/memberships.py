"""Who belongs to which organization: invited, accepted, given another role, removed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final, TypeVar

from risala.engine.journal.accounts import accounts as organization_rows
from risala.engine.journal.people import mails, members, users, web_sessions
from risala.engine.journal.store.signature import Signature, signed
from risala.engine.journal.store.transaction import Unit
from risala.engine.journal.upkeep.audit_log import version_of
from risala.engine.limits.claims import TakePeople
from risala.engine.model.callers import Role
from risala.engine.model.commands import Organization, PeopleUse
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.people import (
    AccessEnded,
    Invitation,
    Language,
    Membership,
    MemberView,
    ReachableOrganization,
    User,
)
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.people.sessions import WebSessions
from risala.engine.people.sign_in import address_of
from risala.engine.people.sources import PeopleSources
from risala.engine.rules.people.lifetimes import INVITATION_MS

T = TypeVar("T")

OWNED_MAX: Final = 10
"""Organizations that one user may own: enough for an agency, too few to hide in."""


class Memberships:
    def __init__(self, sources: PeopleSources, sessions: WebSessions) -> None:
        self._have = sources
        self._sessions = sessions

    # -- looked at

    def members(self, organization_id: str) -> Sequence[MemberView]:
        """All members, the first first.

        Raises:
            NotFound: there is no such organization.
        """
        reader = self._have.reader
        organization_rows.organization(reader, organization_id)
        return [self._view(each) for each in members.of_organization(reader, organization_id)]

    def member(self, organization_id: str, user_id: str) -> MemberView:
        """Raises ``NotFound`` where they are none."""
        return self._view(members.member(self._have.reader, organization_id, user_id))

    def _view(self, membership: Membership) -> MemberView:
        reader = self._have.reader
        user = users.user(reader, membership.user_id)
        version = version_of(reader, user.id, "member", membership.organization_id)
        return MemberView(membership, user.email, user.name, version)

    def organizations(self, user_id: str) -> Sequence[ReachableOrganization]:
        """Organizations that a user is a member of."""
        found = members.of_user(self._have.reader, user_id)
        return [self._sessions.organization(each) for each in found]

    def invitations(self, organization_id: str) -> Sequence[Invitation]:
        """Those that nobody has answered yet."""
        return members.invitations_of(self._have.reader, organization_id, self._have.now_ms())

    def invitations_to(self, email: str) -> Sequence[Invitation]:
        return members.invitations_to(self._have.reader, email, self._have.now_ms())

    # -- an organization of one's own

    async def found(self, user_id: str, name: str, by: Signature) -> Organization:
        """Make an organization whose owner the user is.

        Raises:
            Invalid: the name is empty or too long.
            RateLimited, Conflict: they made too many.
        """
        have = self._have
        drafted = have.accounts.draft_organization(name, have.settings.service.currency)
        await have.limits.ask(TakePeople(((PeopleUse.ORGANIZATION, user_id),)))
        now_ms = have.now_ms()

        def unit(conn: sqlite3.Connection) -> Organization:
            owned = [each for each in members.of_user(conn, user_id) if each.role is Role.OWNER]
            if len(owned) >= OWNED_MAX:
                raise Conflict(f"A user owns at most {OWNED_MAX} organizations.")
            made = organization_rows.add_organization(conn, drafted)
            members.add(conn, Membership(made.id, user_id, Role.OWNER, now_ms, now_ms))
            return made

        return await self._commit(unit, by, user_id)

    # -- invitations

    async def invite(
        self, organization_id: str, email: str, role: Role, who: str, actor_id: str | None,
        by: Signature,
    ) -> Invitation:  # fmt: skip
        """Invite whoever reads an address; again sends it again.

        Args:
            actor_id: the owner who asks; None: the operator.

        Raises:
            Invalid: it is no address.
            RateLimited: the organization, the actor or all together invited too many within an
                hour or a day, or this address was invited too often.
            Conflict: they are a member already, or there are too many.
            Forbidden: the actor is no owner any more.
        """
        have, address, now_ms = self._have, address_of(email), self._have.now_ms()
        organization_rows.organization(have.reader, organization_id)
        uses: tuple[tuple[PeopleUse, str | None], ...] = (
            (PeopleUse.INVITATION, organization_id),
            (PeopleUse.INVITED, address),
            (PeopleUse.INVITATION_ALL, None),
        )
        if actor_id is not None:
            uses = ((PeopleUse.INVITER, actor_id), *uses)
        await have.limits.ask(TakePeople(uses))
        new = Invitation(
            id=have.ids.new("inv"),
            organization_id=organization_id,
            email=address,
            role=role,
            invited_by=who,
            created_at=now_ms,
            expires_at=now_ms + INVITATION_MS,
        )

        def unit(conn: sqlite3.Connection) -> Invitation:
            members.refuse_other_than_owner(conn, organization_id, actor_id)
            stored = members.invite(conn, new)
            known = users.by_email(conn, address)
            actor = None if actor_id is None else users.find(conn, actor_id)
            language = (known or actor or _NOBODY).language
            details = {"invitation": stored.id}
            mail = NewMail(MailKind.INVITATION, address, language, details, stored.expires_at)
            mails.owe(conn, mail, now_ms)
            return stored

        stored = await have.recorder.journal.commit(signed(by, unit))
        have.owed()
        return stored

    async def uninvite(
        self, organization_id: str, invitation_id: str, actor_id: str | None, by: Signature
    ) -> Invitation:
        """Take an invitation back.

        Raises:
            NotFound: there is none of this organization's.
            Forbidden: the actor is no owner any more.
        """
        now_ms = self._have.now_ms()

        def unit(conn: sqlite3.Connection) -> Invitation:
            members.refuse_other_than_owner(conn, organization_id, actor_id)
            found = members.invitation(conn, invitation_id, now_ms)
            if found.organization_id != organization_id:
                raise NotFound("There is no such invitation.")
            members.withdraw(conn, invitation_id)
            return found

        return await self._have.recorder.journal.commit(signed(by, unit))

    async def accept(
        self, user_id: str, invitation_id: str, by: Signature
    ) -> ReachableOrganization:
        """Become a member by an invitation to one's own address.

        Raises:
            NotFound: there is none to them.
            Conflict: they are a member already, or there are too many.
        """
        now_ms = self._have.now_ms()

        def unit(conn: sqlite3.Connection) -> Membership:
            found = _invitation_of(conn, user_id, invitation_id, now_ms)
            members.withdraw(conn, found.id)
            new = Membership(found.organization_id, user_id, found.role, now_ms, now_ms)
            return members.add(conn, new)

        return self._sessions.organization(await self._commit(unit, by, user_id))

    async def decline(self, user_id: str, invitation_id: str, by: Signature) -> Invitation:
        """Raises ``NotFound`` where there is none to them."""
        now_ms = self._have.now_ms()

        def unit(conn: sqlite3.Connection) -> Invitation:
            found = _invitation_of(conn, user_id, invitation_id, now_ms)
            members.withdraw(conn, found.id)
            return found

        return await self._have.recorder.journal.commit(signed(by, unit))

    # -- members

    async def add(self, organization_id: str, email: str, role: Role, by: Signature) -> MemberView:
        """Make somebody a member by the operator's word, and a user where there is none.

        Raises:
            Invalid: it is no address.
            NotFound: there is no such organization.
            Conflict: they are a member already, or there are too many.
        """
        have, now_ms = self._have, self._have.now_ms()
        address, new_id = address_of(email), have.ids.new("usr")
        new = User(new_id, address, "", Language.FRENCH, False, now_ms, now_ms, None)

        def unit(conn: sqlite3.Connection) -> Membership:
            organization_rows.organization(conn, organization_id)
            user = users.by_email(conn, address) or users.add(conn, new)
            for waiting in members.invitations_to(conn, address, now_ms):
                if waiting.organization_id == organization_id:
                    members.withdraw(conn, waiting.id)
            return members.add(conn, Membership(organization_id, user.id, role, now_ms, now_ms))

        made = await have.recorder.journal.commit(signed(by, unit))
        self._sessions.forget(made.user_id)
        return self.member(organization_id, made.user_id)

    async def set_role(
        self, organization_id: str, user_id: str, role: Role, actor_id: str | None, by: Signature
    ) -> MemberView:
        """Give a member another role; their cookies are renewed, what they follow ends.

        Raises:
            NotFound: they are no member.
            Conflict: there would be no owner left, or somebody changed it meanwhile.
            Forbidden: the actor is no owner any more.
        """
        now_ms = self._have.now_ms()

        def unit(conn: sqlite3.Connection) -> Membership:
            members.refuse_other_than_owner(conn, organization_id, actor_id)
            changed = members.set_role(conn, organization_id, user_id, role, now_ms)
            web_sessions.make_stale(conn, user_id)
            return changed

        await self._commit(unit, by, user_id, organization_id)
        return self.member(organization_id, user_id)

    async def remove(
        self, organization_id: str, user_id: str, actor_id: str | None, by: Signature
    ) -> MemberView:
        """End a membership; what they follow there ends.

        Raises:
            NotFound: they are no member.
            Conflict: there would be no owner left, or somebody changed it meanwhile.
            Forbidden: the actor is no owner any more.
        """
        gone = self.member(organization_id, user_id)

        def unit(conn: sqlite3.Connection) -> Membership:
            members.refuse_other_than_owner(conn, organization_id, actor_id)
            return members.remove(conn, organization_id, user_id)

        await self._commit(unit, by, user_id, organization_id)
        return gone

    async def leave(self, organization_id: str, user_id: str, by: Signature) -> None:
        """End one's own membership.

        Raises:
            NotFound: it is not theirs.
            Conflict: there would be no owner left.
        """
        await self._commit(
            lambda conn: members.remove(conn, organization_id, user_id),
            by,
            user_id,
            organization_id,
        )

    async def _commit(
        self, unit: Unit[T], by: Signature, user_id: str, left: str | None = None
    ) -> T:
        """Commit what changes what a user may do.

        Args:
            left: the organization in which they may not go on as before.
        """
        try:
            answer = await self._have.recorder.journal.commit(signed(by, unit))
        finally:
            self._sessions.forget(user_id)
        if left is not None:
            self._sessions.tell_ended(AccessEnded(user_id, left))
        return answer


_NOBODY: Final = User("", "", "", Language.FRENCH, False, 0, 0, None)
"""Whose language is read where nobody's is known: most people of the country read it."""


def _invitation_of(
    conn: sqlite3.Connection, user_id: str, invitation_id: str, now_ms: int
) -> Invitation:
    """An invitation to the user's own address, as it is at this moment."""
    found = members.invitation(conn, invitation_id, now_ms)
    if found.email != users.user(conn, user_id).email:
        raise NotFound("There is no such invitation.")
    return found
