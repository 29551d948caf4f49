"""Members and their roles in organizations, and invitations.

Each function is part of a unit of work, and units run one after the other: of two owners who remove
each other at the same time, one succeeds, and the other is then no owner.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.people import users
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import Seen
from risala.engine.model.callers import Role
from risala.engine.model.errors import Conflict, Forbidden, NotFound
from risala.engine.model.feature_work import Duty
from risala.engine.model.features import required
from risala.engine.model.people import Membership
from risala.engine.model.records.people.members import Invitation, member_of
from risala.engine.model.records.record import audit_image
from risala.engine.rules.people.lifetimes import INVITATION_SHOWN_MS

MEMBERS_MAX: Final = 200
"""Per organization, including invitations: a page shows them all."""
EXPIRED_MAX: Final = 50
"""Invitations of an organization that are shown though they are too old."""
PLACES_MAX: Final = 50
"""Organizations of one user: each request reads them."""

_MEMBERS: Final = Rows(Membership, role=Role)
_INVITATIONS: Final = Rows.of_record(
    Invitation,
    {"organization_name": "(SELECT name FROM organizations WHERE id = organization_id)"},
)
_ONE: Final = "organization_id = ? AND user_id = ?"


def find(conn: sqlite3.Connection, organization_id: str, user_id: str) -> Membership | None:
    rows = _MEMBERS.find(table(conn, "members"), _ONE, (organization_id, user_id))
    return rows[0] if rows else None


def image(conn: sqlite3.Connection, organization_id: str, user_id: str) -> Seen | None:
    """What the audit trail shows of a user as a member of one organization."""
    membership, known = find(conn, organization_id, user_id), users.find(conn, user_id)
    if membership is None or known is None:
        return None
    return Seen(organization_id, audit_image(member_of(membership, known)))


def member(conn: sqlite3.Connection, organization_id: str, user_id: str) -> Membership:
    """One membership.

    Raises:
        NotFound: the user is no member.
    """
    membership = find(conn, organization_id, user_id)
    if membership is None:
        raise NotFound("There is no such member.")
    return membership


def of_organization(conn: sqlite3.Connection, organization_id: str) -> list[Membership]:
    """The members of an organization, the oldest membership first."""
    return _MEMBERS.find(
        table(conn, "members"),
        "organization_id = ?",
        (organization_id,),
        order_by="created_at, user_id",
    )


def of_user(conn: sqlite3.Connection, user_id: str) -> list[Membership]:
    """Memberships of a user, the oldest first."""
    stored = table(conn, "members")
    return _MEMBERS.find(stored, "user_id = ?", (user_id,), order_by="created_at, organization_id")


def owners(conn: sqlite3.Connection, organization_id: str) -> list[str]:
    """Users who own it."""
    return [
        each.user_id for each in of_organization(conn, organization_id) if each.role is Role.OWNER
    ]


def owned_alone(conn: sqlite3.Connection, user_id: str) -> list[str]:
    """The ids of organizations that would be left without an owner."""
    mine = [each for each in of_user(conn, user_id) if each.role is Role.OWNER]
    return [
        each.organization_id for each in mine if owners(conn, each.organization_id) == [user_id]
    ]


def refuse_other_than_owner(
    conn: sqlite3.Connection, organization_id: str, actor_id: str | None
) -> None:
    """Refuse an owner's request if they are no longer one.

    Args:
        actor_id: None: the operator asks.

    Raises:
        Forbidden: they are no longer an owner.
    """
    if actor_id is not None and actor_id not in owners(conn, organization_id):
        raise Forbidden("You are no longer an owner of this organization.")


def add(conn: sqlite3.Connection, new: Membership) -> Membership:
    """Make a user a member.

    Raises:
        Conflict: they are one already, or there are too many.
    """
    if find(conn, new.organization_id, new.user_id) is not None:
        raise Conflict("They are already a member.")
    if len(of_organization(conn, new.organization_id)) >= MEMBERS_MAX:
        raise Conflict(f"An organization can have at most {MEMBERS_MAX} members.")
    if len(of_user(conn, new.user_id)) >= PLACES_MAX:
        raise Conflict(f"A user can be in at most {PLACES_MAX} organizations.")
    writable(conn, "members").insert(
        {
            "organization_id": new.organization_id,
            "user_id": new.user_id,
            "role": new.role.value,
            "created_at": new.created_at,
            "updated_at": new.updated_at,
        }
    )
    return new


def set_role(
    conn: sqlite3.Connection, organization_id: str, user_id: str, role: Role, now_ms: int
) -> Membership:
    """Give a member another role; an unchanged one writes nothing.

    Raises:
        NotFound: they are no member.
        Conflict: no owner would be left.
    """
    old = member(conn, organization_id, user_id)
    if old.role is role:
        return old
    _refuse_without_owner(conn, old)
    key = (organization_id, user_id)
    writable(conn, "members").update(key, {"role": role.value, "updated_at": now_ms})
    return member(conn, organization_id, user_id)


def remove(conn: sqlite3.Connection, organization_id: str, user_id: str) -> Membership:
    """End a membership.

    Raises:
        NotFound: they are no member.
        Conflict: no owner would be left.
    """
    old = member(conn, organization_id, user_id)
    _refuse_without_owner(conn, old)
    writable(conn, "members").delete((organization_id, user_id))
    return old


def _refuse_without_owner(conn: sqlite3.Connection, leaving: Membership) -> None:
    if leaving.role is Role.OWNER and len(owners(conn, leaving.organization_id)) == 1:
        raise Conflict("An organization needs an owner. Make somebody else an owner first.")


# -- invitations


def invitation(conn: sqlite3.Connection, invitation_id: str, now_ms: int) -> Invitation:
    """A valid invitation.

    Raises:
        NotFound: it does not exist, or is too old.
    """
    stored = stored_invitation(conn, invitation_id)
    if stored is None or stored.expires_at <= now_ms:
        raise NotFound("There is no such invitation.")
    return stored


def stored_invitation(conn: sqlite3.Connection, invitation_id: str) -> Invitation | None:
    """An invitation without an answer, even if it is too old."""
    rows = _INVITATIONS.find(table(conn, "invitations"), "id = ?", (invitation_id,))
    return rows[0] if rows else None


def invitations_of(conn: sqlite3.Connection, organization_id: str, now_ms: int) -> list[Invitation]:
    """An organization's invitations without an answer yet, also those that are too old by now."""
    return _INVITATIONS.find(
        table(conn, "invitations"),
        "organization_id = ? AND expires_at > ?",
        (organization_id, now_ms - INVITATION_SHOWN_MS),
        order_by="id",
    )


def invitations_to(conn: sqlite3.Connection, email: str, now_ms: int) -> list[Invitation]:
    """Invitations to an address that wait for an answer."""
    return _INVITATIONS.find(
        table(conn, "invitations"),
        "email = ? AND expires_at > ?",
        (email, now_ms),
        order_by="id",
    )


def invite(conn: sqlite3.Connection, new: Invitation) -> Invitation:
    """Store an invitation, in place of an earlier one to the same address.

    Raises:
        Conflict: whose address it is, is a member already, or there are too many.
    """
    known = users.by_email(conn, new.email)
    if known is not None and find(conn, new.organization_id, known.id) is not None:
        raise Conflict("They are already a member.")
    values = (new.organization_id, new.email)
    stored = writable(conn, "invitations")
    stored.delete_where("organization_id = ? AND email = ?", values)
    _forget_oldest(conn, new)
    waiting = sum(
        each.expires_at > new.created_at
        for each in invitations_of(conn, new.organization_id, new.created_at)
    )
    if waiting + len(of_organization(conn, new.organization_id)) >= MEMBERS_MAX:
        raise Conflict(f"An organization can have at most {MEMBERS_MAX} members and invitations.")
    stored.insert(
        {
            "id": new.id,
            "organization_id": new.organization_id,
            "email": new.email,
            "role": new.role.value,
            "invited_by": new.invited_by,
            "created_at": new.created_at,
            "expires_at": new.expires_at,
        }
    )
    return new


def _forget_oldest(conn: sqlite3.Connection, new: Invitation) -> None:
    """Delete expired invitations, the oldest first, so that a page shows all that are left."""
    over = [
        each.id
        for each in invitations_of(conn, new.organization_id, new.created_at)
        if each.expires_at <= new.created_at
    ]
    for each in over[: max(0, len(over) - EXPIRED_MAX)]:
        withdraw(conn, each)


def withdraw(conn: sqlite3.Connection, invitation_id: str) -> None:
    """An invitation was taken back, declined or accepted."""
    writable(conn, "invitations").delete(invitation_id)


def answer(conn: sqlite3.Connection, user_id: str, invitation_id: str, now_ms: int) -> Invitation:
    """A user accepts or declines an invitation to their present address.

    Raises:
        NotFound: they have no such invitation.
    """
    stored = invitation(conn, invitation_id, now_ms)
    if stored.email != users.user(conn, user_id).email:
        raise NotFound("There is no such invitation.")
    withdraw(conn, stored.id)
    return stored


def requires_provider(conn: sqlite3.Connection, organization_id: str) -> bool:
    """Whether members enter an organization by its identity provider alone. Nobody enters where no
    feature can say."""
    return bool(required(Duty.PROVIDER_ALONE)(conn, organization_id))
