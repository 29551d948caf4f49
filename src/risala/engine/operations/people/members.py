"""Members of an organization, and invitations."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import MaybeWhole, OfOrganization, Text
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.callers import Role
from risala.engine.model.records.asks import Nothing
from risala.engine.model.records.people import members
from risala.engine.model.records.people.members import Invitation, Members, MemberView
from risala.engine.operations.people.users import MemberRole
from risala.engine.rules.roles import OPERATORS, OWNERS, STAFF, VIEWERS


class Invite(OfOrganization):
    email: Text
    role: MemberRole


class Uninvite(OfOrganization):
    invitation_id: Text


class OfMember(OfOrganization):
    user_id: Text
    version: MaybeWhole = None


class SetRole(OfMember):
    role: MemberRole


def _actor(call: Call[Any]) -> str | None:
    """The member who asks; None: the operator, who need not be a member."""
    return (call.caller.user_id or "") if call.caller.is_member else None


OPERATIONS: Final = Operations()
_ONE: Final[dict[str, Any]] = {"owner": owners.named, "changes": MemberView}
_INVITATION: Final[dict[str, Any]] = {
    "roles": OWNERS,
    "owner": owners.named,
    "changes": Invitation,
}


@OPERATIONS(members.LIST, roles=VIEWERS, operators=STAFF, owner=owners.named)
async def _list(call: Call[OfOrganization]) -> Members:
    organization_id = call.given.organization_id
    memberships = call.services.people.memberships
    found = tuple(memberships.members(organization_id))
    if call.caller.is_member and call.caller.role is not Role.OWNER:
        return Members(found, ())
    return Members(found, tuple(memberships.invitations(organization_id)))


@OPERATIONS(members.INVITE, **_INVITATION, fresh=True)
async def _invite(call: Call[Invite]) -> Invitation:
    given = call.given
    return await call.services.people.memberships.invite(
        given.organization_id,
        given.email,
        given.role,
        call.caller.who,
        _actor(call),
        call.audit(AuditImage.INVITATION, organization_id=given.organization_id),
    )


@OPERATIONS(members.UNINVITE, **_INVITATION)
async def _uninvite(call: Call[Uninvite]) -> Nothing:
    given = call.given
    by = call.audit(
        AuditImage.INVITATION, given.invitation_id, organization_id=given.organization_id
    )
    await call.services.people.memberships.uninvite(
        given.organization_id, given.invitation_id, _actor(call), by
    )
    return Nothing()


@OPERATIONS(members.SET_ROLE, roles=OWNERS, **_ONE, fresh=True)
async def _set_role(call: Call[SetRole]) -> MemberView:
    given, organization_id = call.given, call.given.organization_id
    by = call.audit(AuditImage.MEMBER, given.user_id, organization_id=organization_id)
    return await call.services.people.memberships.set_role(
        organization_id, given.user_id, given.role, _actor(call), by
    )


@OPERATIONS(members.REMOVE, roles=OWNERS, **_ONE, fresh=True)
async def _remove(call: Call[OfMember]) -> MemberView:
    given, organization_id = call.given, call.given.organization_id
    by = call.audit(AuditImage.MEMBER, given.user_id, organization_id=organization_id)
    return await call.services.people.memberships.remove(
        organization_id, given.user_id, _actor(call), by
    )


@OPERATIONS(members.ADD, roles=OPERATORS, **_ONE, fresh=True)
async def _add(call: Call[Invite]) -> MemberView:
    given = call.given
    memberships = call.services.people.memberships
    by = call.audit(AuditImage.MEMBER, organization_id=given.organization_id)
    return await memberships.add(given.organization_id, given.email, given.role, by)
