"""Changes of who belongs to an organization, a unit of work each.

For an owner's request, each raises ``Forbidden`` if they are no longer one.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.accounts import accounts
from risala.engine.journal.people import mails, members, users, web_sessions
from risala.engine.journal.store.repository import Store, audited_command, read
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.model.people import Language, Membership, User
from risala.engine.model.people_records import MailKind, NewMail
from risala.engine.model.records.people.members import Invitation
from risala.engine.model.records.people.organizations import Organization

OWNED_MAX: Final = 10
"""Organizations that one user may own: enough for an agency, too few to hide in."""
_NOBODY: Final = User("", "", "", Language.FRENCH, False, 0, 0, None)
"""The language if none is known: most people of the country read it."""


def found(
    conn: sqlite3.Connection, user_id: str, drafted: Organization, now_ms: int
) -> Organization:
    """Make an organization with the user as its owner.

    Raises:
        Conflict: they own too many.
    """
    owned = [each for each in members.of_user(conn, user_id) if each.role is Role.OWNER]
    if len(owned) >= OWNED_MAX:
        raise Conflict(f"A user can own at most {OWNED_MAX} organizations.")
    made = accounts.add_organization(conn, drafted)
    members.add(conn, Membership(made.id, user_id, Role.OWNER, now_ms, now_ms))
    return made


def invite(conn: sqlite3.Connection, new: Invitation, actor_id: str | None) -> Invitation:
    """Store an invitation in place of an earlier one to the same address, and owe its mail.

    Args:
        actor_id: the owner who asks; None: the operator.

    Raises:
        Conflict: they are already a member, or there are too many.
    """
    members.refuse_other_than_owner(conn, new.organization_id, actor_id)
    stored = members.invite(conn, new)
    known = users.by_email(conn, new.email)
    actor = None if actor_id is None else users.find(conn, actor_id)
    language = (known or actor or _NOBODY).language
    details = {"invitation": stored.id, "organization": new.organization_id}
    mail = NewMail(MailKind.INVITATION, new.email, language, details, stored.expires_at)
    mails.owe(conn, mail, new.created_at)
    return stored


def uninvite(
    conn: sqlite3.Connection,
    organization_id: str,
    invitation_id: str,
    actor_id: str | None,
) -> Invitation:
    """Withdraw an invitation, or remove one that is too old.

    Raises:
        NotFound: the organization has no such invitation.
    """
    members.refuse_other_than_owner(conn, organization_id, actor_id)
    invitation = members.stored_invitation(conn, invitation_id)
    if invitation is None or invitation.organization_id != organization_id:
        raise NotFound("There is no such invitation.")
    members.withdraw(conn, invitation_id)
    return invitation


def accept(conn: sqlite3.Connection, user_id: str, invitation_id: str, now_ms: int) -> Membership:
    """Make a user a member by an invitation to their address.

    Raises:
        NotFound: they have no such invitation.
        Conflict: they are already a member, or there are too many.
    """
    invitation = members.answer(conn, user_id, invitation_id, now_ms)
    new = Membership(invitation.organization_id, user_id, invitation.role, now_ms, now_ms)
    return members.add(conn, new)


def add(
    conn: sqlite3.Connection, organization_id: str, new: User, role: Role, now_ms: int
) -> Membership:
    """Make somebody a member, and a user where nobody has the address.

    Args:
        new: as they are stored if there is none.

    Raises:
        NotFound: the organization does not exist.
        Conflict: they are already a member, or there are too many.
    """
    accounts.organization(conn, organization_id)
    user = users.by_email(conn, new.email) or users.add(conn, new)
    for waiting in members.invitations_to(conn, new.email, now_ms):
        if waiting.organization_id == organization_id:
            members.withdraw(conn, waiting.id)
    return members.add(conn, Membership(organization_id, user.id, role, now_ms, now_ms))


def set_role(
    conn: sqlite3.Connection,
    organization_id: str,
    user_id: str,
    role: Role,
    actor_id: str | None,
    now_ms: int,
) -> Membership:
    """Give a member another role; their cookies are to be renewed.

    Raises:
        NotFound: they are no member.
        Conflict: no owner would be left.
    """
    members.refuse_other_than_owner(conn, organization_id, actor_id)
    changed = members.set_role(conn, organization_id, user_id, role, now_ms)
    web_sessions.make_stale(conn, user_id)
    return changed


def remove(
    conn: sqlite3.Connection, organization_id: str, user_id: str, actor_id: str | None
) -> Membership:
    """End a membership.

    Raises:
        NotFound: they are no member.
        Conflict: no owner would be left.
    """
    members.refuse_other_than_owner(conn, organization_id, actor_id)
    return members.remove(conn, organization_id, user_id)


# -- for the rest of the engine


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
        """The members of an organization, the oldest membership first.

        Raises:
            NotFound: the organization does not exist.
        """
        accounts.organization(self._store.reader, organization_id)
        return members.of_organization(self._store.reader, organization_id)

    of_user = read(members.of_user)
    requires_provider = read(members.requires_provider)
    invitation = read(members.invitation)
    invitations_of = read(members.invitations_of)
    invitations_to = read(members.invitations_to)

    # -- an organization of one's own

    found = audited_command(found)

    # -- invitations

    invite = audited_command(invite)
    uninvite = audited_command(uninvite)
    accept = audited_command(accept)
    decline = audited_command(members.answer)

    # -- members

    add = audited_command(add)
    set_role = audited_command(set_role)
    remove = audited_command(remove)
    leave = audited_command(members.remove)
