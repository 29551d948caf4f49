"""What people do with their own account, and with the members of an organization."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.kernel import owners
from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeAnyName,
    MaybeText,
    MaybeWhole,
    Name,
    NoArguments,
    OfOrganization,
    Text,
    fault,
    text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.callers import Role
from risala.engine.model.errors import Invalid
from risala.engine.model.people import ReachableOrganization
from risala.engine.model.records.asks import Nothing
from risala.engine.model.records.people import account, members, organizations
from risala.engine.model.records.people.account import (
    AccountStory,
    AddressAnswer,
    Devices,
    PendingAddress,
    pending_address,
)
from risala.engine.model.records.people.members import Invitation, Members, MemberView
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.people.users import Ended, VersionedUser, user_device, versioned
from risala.engine.operations.users import MaybeLanguage
from risala.engine.rules.people.lifetimes import ATTEMPTS_MAX
from risala.engine.rules.roles import OPERATORS, OWNERS, STAFF, USERS, VIEWERS


class SetAccount(Arguments):
    name: MaybeAnyName = None
    language: MaybeLanguage = None
    version: MaybeWhole = None


class SignOut(Arguments):
    session_id: MaybeText = None
    """None: all except the caller's."""
    but: MaybeText = None
    """The caller's session."""


class ChangeEmail(Arguments):
    email: Text


class ConfirmEmail(Arguments):
    old_code: MaybeText = None
    new_code: MaybeText = None


class OfInvitation(Arguments):
    invitation_id: Text


class OwnOrganization(Arguments):
    name: Name


def _me(call: Call[Any]) -> str:
    """Operations here are for users alone, who have an id."""
    assert call.caller.user_id is not None
    return call.caller.user_id


OPERATIONS: Final = Operations()
_USER: Final[dict[str, Any]] = {"roles": USERS, "changes": VersionedUser}
_INVITATION: Final[dict[str, Any]] = {"roles": USERS, "changes": Invitation}


@OPERATIONS(account.SHOW, roles=USERS)
async def _show(call: Call[NoArguments]) -> AccountStory:
    people, me = call.services.people, _me(call)
    user, change = people.sources.users.user(me), people.account.pending_change(me)
    return AccountStory(
        versioned(user, people.sources.audit.version_of(me, "account")),
        tuple(people.memberships.organizations(me)),
        tuple(people.memberships.invitations_to(user.email)),
        None if change is None else pending_address(change),
    )


@OPERATIONS(account.SET, **_USER)
async def _set(call: Call[SetAccount]) -> VersionedUser:
    arguments, own, me = call.arguments, call.services.people.account, _me(call)
    by = call.audit(AuditImage.USER, me)
    user = await own.change(me, arguments.name, arguments.language, by)
    return versioned(user, call.services.people.sources.audit.version_of(me, "account"))


@OPERATIONS(account.DEVICES, roles=USERS)
async def _devices(call: Call[NoArguments]) -> Devices:
    return Devices(tuple(map(user_device, call.services.people.account.devices(_me(call)))))


@OPERATIONS(account.SIGN_OUT, **_USER)
async def _sign_out(call: Call[SignOut]) -> Ended:
    arguments, me = call.arguments, _me(call)
    own = call.services.people.account
    return Ended(
        await own.sign_out(me, arguments.session_id, arguments.but, call.audit(subject=me))
    )


@OPERATIONS(account.CHANGE_EMAIL, **_USER, fresh=True)
async def _change_email(call: Call[ChangeEmail]) -> PendingAddress:
    me, email = _me(call), call.arguments.email
    by = call.audit(AuditImage.USER, me, details={"asked": email})
    return pending_address(await call.services.people.account.change_email(me, email, by))


@OPERATIONS(account.CONFIRM_EMAIL, **_USER)
async def _confirm_email(call: Call[ConfirmEmail]) -> AddressAnswer:
    arguments, me = call.arguments, _me(call)
    if arguments.old_code is None and arguments.new_code is None:
        raise Invalid("new_code", "missing", "Type the code of at least one of the two mails.")
    by = call.audit(AuditImage.USER, me)
    own = call.services.people.account
    user, change = await own.confirm_email(me, arguments.old_code, arguments.new_code, by)
    if change is None:
        return AddressAnswer(user.email, None, 0)
    return AddressAnswer(user.email, pending_address(change), ATTEMPTS_MAX - change.attempts)


@OPERATIONS(account.ACCEPT, **_INVITATION)
async def _accept(call: Call[OfInvitation]) -> ReachableOrganization:
    invitation_id = call.arguments.invitation_id
    by = call.audit(AuditImage.INVITATION, invitation_id)
    return await call.services.people.memberships.accept(_me(call), invitation_id, by)


@OPERATIONS(account.DECLINE, **_INVITATION)
async def _decline(call: Call[OfInvitation]) -> Nothing:
    invitation_id = call.arguments.invitation_id
    by = call.audit(AuditImage.INVITATION, invitation_id)
    await call.services.people.memberships.decline(_me(call), invitation_id, by)
    return Nothing()


@OPERATIONS(account.LEAVE, roles=USERS, changes=MemberView)
async def _leave(call: Call[OfOrganization]) -> Nothing:
    organization_id, me = call.arguments.organization_id, _me(call)
    by = call.audit(AuditImage.MEMBER, me, organization_id=organization_id)
    await call.services.people.memberships.leave(organization_id, me, by)
    return Nothing()


@OPERATIONS(account.DELETE, **_USER, fresh=True)
async def _delete(call: Call[NoArguments]) -> Nothing:
    me = _me(call)
    await call.services.people.ending.delete(me, call.audit(subject=me))
    return Nothing()


@OPERATIONS(organizations.FOUND, roles=USERS, changes=Organization)
async def _found(call: Call[OwnOrganization]) -> Organization:
    by = call.audit(AuditImage.ORGANIZATION)
    return await call.services.people.memberships.found(_me(call), call.arguments.name, by)


# -- members of an organization, and invitations


MEMBER_ROLES = (Role.OWNER, Role.DEVELOPER, Role.VIEWER)


def _role(value: object) -> Role:
    try:
        role = Role(text(value))
    except ValueError:
        role = Role.SYSTEM
    if role not in MEMBER_ROLES:
        raise fault("invalid_role", "`{name}` is `owner`, `developer` or `viewer`.")
    return role


_ROLES: Final = ArgumentKind("`owner`, `developer` or `viewer`")
MemberRole = Annotated[Role, PlainValidator(_role), _ROLES]


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


_MEMBER: Final[dict[str, Any]] = {"owner": owners.named, "changes": MemberView}
_INVITED: Final[dict[str, Any]] = {
    "roles": OWNERS,
    "owner": owners.named,
    "changes": Invitation,
}


@OPERATIONS(members.LIST, roles=VIEWERS, operators=STAFF, owner=owners.named)
async def _list_members(call: Call[OfOrganization]) -> Members:
    organization_id = call.arguments.organization_id
    memberships = call.services.people.memberships
    listed = tuple(memberships.members(organization_id))
    if call.caller.is_member and call.caller.role is not Role.OWNER:
        return Members(listed, ())
    return Members(listed, tuple(memberships.invitations(organization_id)))


@OPERATIONS(members.INVITE, **_INVITED, fresh=True)
async def _invite(call: Call[Invite]) -> Invitation:
    arguments = call.arguments
    return await call.services.people.memberships.invite(
        arguments.organization_id,
        arguments.email,
        arguments.role,
        call.caller.who,
        _actor(call),
        call.audit(AuditImage.INVITATION, organization_id=arguments.organization_id),
    )


@OPERATIONS(members.UNINVITE, **_INVITED)
async def _uninvite(call: Call[Uninvite]) -> Nothing:
    arguments = call.arguments
    by = call.audit(
        AuditImage.INVITATION, arguments.invitation_id, organization_id=arguments.organization_id
    )
    await call.services.people.memberships.uninvite(
        arguments.organization_id, arguments.invitation_id, _actor(call), by
    )
    return Nothing()


@OPERATIONS(members.SET_ROLE, roles=OWNERS, **_MEMBER, fresh=True)
async def _set_role(call: Call[SetRole]) -> MemberView:
    arguments, organization_id = call.arguments, call.arguments.organization_id
    by = call.audit(AuditImage.MEMBER, arguments.user_id, organization_id=organization_id)
    return await call.services.people.memberships.set_role(
        organization_id, arguments.user_id, arguments.role, _actor(call), by
    )


@OPERATIONS(members.REMOVE, roles=OWNERS, **_MEMBER, fresh=True)
async def _remove(call: Call[OfMember]) -> MemberView:
    arguments, organization_id = call.arguments, call.arguments.organization_id
    by = call.audit(AuditImage.MEMBER, arguments.user_id, organization_id=organization_id)
    return await call.services.people.memberships.remove(
        organization_id, arguments.user_id, _actor(call), by
    )


@OPERATIONS(members.ADD, roles=OPERATORS, **_MEMBER, fresh=True)
async def _add(call: Call[Invite]) -> MemberView:
    arguments = call.arguments
    memberships = call.services.people.memberships
    by = call.audit(AuditImage.MEMBER, organization_id=arguments.organization_id)
    return await memberships.add(arguments.organization_id, arguments.email, arguments.role, by)
