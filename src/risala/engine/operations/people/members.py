"""Members of an organization and who is invited to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.callers import Role
from risala.engine.model.people import MemberView
from risala.engine.operations import owners
from risala.engine.operations.arguments import Json, MaybeWhole, OfOrganization, Text
from risala.engine.operations.operation import Call, Operation
from risala.engine.operations.people.account import Named, Nothing, nothing_wire
from risala.engine.operations.people.wire import MemberRole, invitation_wire, member_wire
from risala.engine.rules.roles import OPERATORS, OWNERS, VIEWERS


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


@dataclass(frozen=True, slots=True)
class Members:
    members: tuple[MemberView, ...]
    invitations: tuple[Named, ...]


def _members_wire(found: Members) -> Json:
    return {
        "members": [member_wire(each) for each in found.members],
        "invitations": [_named_wire(each) for each in found.invitations],
    }


def _named_wire(found: Named) -> Json:
    return invitation_wire(found.invitation, found.organization_name)


def _actor(call: Call[Any]) -> str | None:
    """The member who asks; None: the operator, who needs to be none."""
    return (call.caller.user_id or "") if call.caller.is_member else None


async def _list(call: Call[OfOrganization]) -> Members:
    organization_id = call.given.organization_id
    memberships = call.services.people.memberships
    found = tuple(memberships.members(organization_id))
    if call.caller.is_member and call.caller.role is not Role.OWNER:
        return Members(found, ())
    name = call.services.accounts.organization(organization_id).name
    invited = memberships.invitations(organization_id)
    return Members(found, tuple(Named(each, name) for each in invited))


async def _invite(call: Call[Invite]) -> Named:
    given = call.given
    invited = await call.services.people.memberships.invite(
        given.organization_id,
        given.email,
        given.role,
        call.caller.who,
        _actor(call),
        call.audit(AuditImage.INVITATION, organization_id=given.organization_id),
    )
    return Named(invited, call.services.accounts.organization(given.organization_id).name)


async def _uninvite(call: Call[Uninvite]) -> Nothing:
    given = call.given
    by = call.audit(
        AuditImage.INVITATION, given.invitation_id, organization_id=given.organization_id
    )
    await call.services.people.memberships.uninvite(
        given.organization_id, given.invitation_id, _actor(call), by
    )
    return Nothing()


async def _set_role(call: Call[SetRole]) -> MemberView:
    given, organization_id = call.given, call.given.organization_id
    by = call.audit(AuditImage.MEMBER, given.user_id, organization_id=organization_id)
    return await call.services.people.memberships.set_role(
        organization_id, given.user_id, given.role, _actor(call), by
    )


async def _remove(call: Call[OfMember]) -> MemberView:
    given, organization_id = call.given, call.given.organization_id
    by = call.audit(AuditImage.MEMBER, given.user_id, organization_id=organization_id)
    return await call.services.people.memberships.remove(
        organization_id, given.user_id, _actor(call), by
    )


async def _add(call: Call[Invite]) -> MemberView:
    given = call.given
    memberships = call.services.people.memberships
    by = call.audit(AuditImage.MEMBER, organization_id=given.organization_id)
    return await memberships.add(given.organization_id, given.email, given.role, by)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="member.list",
        arguments=OfOrganization,
        result=Members,
        wire=_members_wire,
        handler=_list,
        roles=VIEWERS,
        owner=owners.named,
    ),
    Operation(
        name="member.invite",
        arguments=Invite,
        result=Named,
        wire=_named_wire,
        handler=_invite,
        roles=OWNERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="member.uninvite",
        arguments=Uninvite,
        result=Nothing,
        wire=nothing_wire,
        handler=_uninvite,
        roles=OWNERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="member.set_role",
        arguments=SetRole,
        result=MemberView,
        wire=member_wire,
        handler=_set_role,
        roles=OWNERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="member.remove",
        arguments=OfMember,
        result=MemberView,
        wire=member_wire,
        handler=_remove,
        roles=OWNERS,
        owner=owners.named,
        changes=True,
    ),
    Operation(
        name="member.add",
        arguments=Invite,
        result=MemberView,
        wire=member_wire,
        handler=_add,
        roles=OPERATORS,
        owner=owners.named,
        changes=True,
    ),
)
