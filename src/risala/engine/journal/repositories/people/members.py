"""Members of organizations, and invitations."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import Final

from risala.engine.journal.accounts import accounts
from risala.engine.journal.people import mails, members, users, web_sessions
from risala.engine.journal.repositories.store import Store, read
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.people import Language, Membership, User
from risala.engine.model.people_records.mails import MailKind, NewMail
from risala.engine.model.records.people.members import Invitation
from risala.engine.model.records.people.organizations import Organization

OWNED_MAX: Final = 10
"""Organizations that one user may own: enough for an agency, too few to hide in."""


@dataclass(frozen=True, slots=True)
class MembershipRepository:
    """Users' roles in organizations. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    For an owner's request, it raises ``Forbidden`` if they are no longer one.
    """

    _store: Store

    # -- reads

    member = read(members.member)

    def of_organization(self, organization_id: str) -> list[Membership]:
        """Its members, the first first.

        Raises:
            NotFound: the organization does not exist.
        """
        accounts.organization(self._store.reader, organization_id)
        return members.of_organization(self._store.reader, organization_id)

    of_user = read(members.of_user)
    invitation = read(members.invitation)
    invitations_of = read(members.invitations_of)
    invitations_to = read(members.invitations_to)

    # -- an organization of one's own

    async def found(
        self, user_id: str, drafted: Organization, now_ms: int, *, by: AuditEntry
    ) -> Organization:
        """Make an organization with the user as its owner.

        Raises:
            Conflict: they own too many.
        """

        def unit(conn: sqlite3.Connection) -> Organization:
            owned = [each for each in members.of_user(conn, user_id) if each.role is Role.OWNER]
            if len(owned) >= OWNED_MAX:
                raise Conflict(f"A user can own at most {OWNED_MAX} organizations.")
            made = accounts.add_organization(conn, drafted)
            members.add(conn, Membership(made.id, user_id, Role.OWNER, now_ms, now_ms))
            return made

        return await self._store.commit(unit, by)

    # -- invitations

    async def invite(self, new: Invitation, actor_id: str | None, *, by: AuditEntry) -> Invitation:
        """Store an invitation in place of an earlier one to the same address, and owe its mail.

        Args:
            actor_id: the owner who asks; None: the operator.

        Raises:
            Conflict: they are already a member, or there are too many.
        """

        def unit(conn: sqlite3.Connection) -> Invitation:
            members.refuse_other_than_owner(conn, new.organization_id, actor_id)
            stored = members.invite(conn, new)
            known = users.by_email(conn, new.email)
            actor = None if actor_id is None else users.find(conn, actor_id)
            language = (known or actor or _NOBODY).language
            details = {"invitation": stored.id}
            mail = NewMail(MailKind.INVITATION, new.email, language, details, stored.expires_at)
            mails.owe(conn, mail, new.created_at)
            return stored

        return await self._store.commit(unit, by)

    async def uninvite(
        self,
        organization_id: str,
        invitation_id: str,
        actor_id: str | None,
        now_ms: int,
        *,
        by: AuditEntry,
    ) -> Invitation:
        """Withdraw an invitation.

        Raises:
            NotFound: the organization has no such invitation.
        """

        def unit(conn: sqlite3.Connection) -> Invitation:
            members.refuse_other_than_owner(conn, organization_id, actor_id)
            found = members.invitation(conn, invitation_id, now_ms)
            if found.organization_id != organization_id:
                raise NotFound("There is no such invitation.")
            members.withdraw(conn, invitation_id)
            return found

        return await self._store.commit(unit, by)

    async def accept(
        self, user_id: str, invitation_id: str, now_ms: int, *, by: AuditEntry
    ) -> Membership:
        """Make a user a member by an invitation to their address.

        Raises:
            NotFound: they have no such invitation.
            Conflict: they are already a member, or there are too many.
        """

        def unit(conn: sqlite3.Connection) -> Membership:
            found = members.answer(conn, user_id, invitation_id, now_ms)
            new = Membership(found.organization_id, user_id, found.role, now_ms, now_ms)
            return members.add(conn, new)

        return await self._store.commit(unit, by)

    async def decline(
        self, user_id: str, invitation_id: str, now_ms: int, *, by: AuditEntry
    ) -> Invitation:
        """End an invitation to the user's address. Raises ``NotFound`` if there is none."""
        given = (user_id, invitation_id, now_ms)
        return await self._store.commit(lambda conn: members.answer(conn, *given), by)

    # -- members

    async def add(
        self, organization_id: str, new: User, role: Role, now_ms: int, *, by: AuditEntry
    ) -> Membership:
        """Make somebody a member, and a user where nobody has the address.

        Args:
            new: as they are stored if there is none.

        Raises:
            NotFound: the organization does not exist.
            Conflict: they are already a member, or there are too many.
        """

        def unit(conn: sqlite3.Connection) -> Membership:
            accounts.organization(conn, organization_id)
            user = users.by_email(conn, new.email) or users.add(conn, new)
            for waiting in members.invitations_to(conn, new.email, now_ms):
                if waiting.organization_id == organization_id:
                    members.withdraw(conn, waiting.id)
            return members.add(conn, Membership(organization_id, user.id, role, now_ms, now_ms))

        return await self._store.commit(unit, by)

    async def set_role(
        self,
        organization_id: str,
        user_id: str,
        role: Role,
        actor_id: str | None,
        now_ms: int,
        *,
        by: AuditEntry,
    ) -> None:
        """Give a member another role; their cookies are to be renewed.

        Raises:
            NotFound: they are no member.
            Conflict: no owner would be left.
        """

        def unit(conn: sqlite3.Connection) -> Membership:
            members.refuse_other_than_owner(conn, organization_id, actor_id)
            changed = members.set_role(conn, organization_id, user_id, role, now_ms)
            web_sessions.make_stale(conn, user_id)
            return changed

        await self._store.commit(unit, by)

    async def remove(
        self, organization_id: str, user_id: str, actor_id: str | None, *, by: AuditEntry
    ) -> None:
        """End a membership.

        Raises:
            NotFound: they are no member.
            Conflict: no owner would be left.
        """

        def unit(conn: sqlite3.Connection) -> Membership:
            members.refuse_other_than_owner(conn, organization_id, actor_id)
            return members.remove(conn, organization_id, user_id)

        await self._store.commit(unit, by)

    async def leave(self, organization_id: str, user_id: str, *, by: AuditEntry) -> None:
        """End one's own membership.

        Raises:
            NotFound: it is not theirs.
            Conflict: no owner would be left.
        """
        unit = partial(members.remove, organization_id=organization_id, user_id=user_id)
        await self._store.commit(unit, by)


_NOBODY: Final = User("", "", "", Language.FRENCH, False, 0, 0, None)
"""The language if none is known: most people of the country read it."""
