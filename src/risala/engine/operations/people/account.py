"""Operations of a signed-in user on their own account."""

from __future__ import annotations

from typing import Any, Final

from risala.engine.kernel.arguments import (
    Arguments,
    MaybeAnyName,
    MaybeText,
    MaybeWhole,
    Name,
    NoArguments,
    OfOrganization,
    Text,
)
from risala.engine.kernel.operation import Call, Operations
from risala.engine.model.audit import AuditImage
from risala.engine.model.errors import Invalid
from risala.engine.model.people import ReachableOrganization
from risala.engine.model.records.asks import Nothing
from risala.engine.model.records.people import account, organizations
from risala.engine.model.records.people.account import (
    AccountStory,
    AddressAnswer,
    Devices,
    PendingAddress,
    pending_address,
)
from risala.engine.model.records.people.members import Invitation, MemberView
from risala.engine.model.records.people.organizations import Organization
from risala.engine.model.records.people.users import Ended, VersionedUser, user_device, versioned
from risala.engine.operations.people.users import MaybeLanguage
from risala.engine.rules.people.lifetimes import ATTEMPTS_MAX
from risala.engine.rules.roles import USERS


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
    user, change = people.account.user(me), people.account.pending_change(me)
    return AccountStory(
        versioned(user, people.account.version(me)),
        tuple(people.memberships.organizations(me)),
        tuple(people.memberships.invitations_to(user.email)),
        None if change is None else pending_address(change),
    )


@OPERATIONS(account.SET, **_USER)
async def _set(call: Call[SetAccount]) -> VersionedUser:
    given, own, me = call.given, call.services.people.account, _me(call)
    by = call.audit(AuditImage.USER, me)
    user = await own.change(me, given.name, given.language, by)
    return versioned(user, own.version(me))


@OPERATIONS(account.DEVICES, roles=USERS)
async def _devices(call: Call[NoArguments]) -> Devices:
    return Devices(tuple(map(user_device, call.services.people.account.devices(_me(call)))))


@OPERATIONS(account.SIGN_OUT, **_USER)
async def _sign_out(call: Call[SignOut]) -> Ended:
    given, me = call.given, _me(call)
    own = call.services.people.account
    return Ended(await own.sign_out(me, given.session_id, given.but, call.audit(subject=me)))


@OPERATIONS(account.CHANGE_EMAIL, **_USER, fresh=True)
async def _change_email(call: Call[ChangeEmail]) -> PendingAddress:
    me, email = _me(call), call.given.email
    by = call.audit(AuditImage.USER, me, said={"asked": email})
    return pending_address(await call.services.people.account.change_email(me, email, by))


@OPERATIONS(account.CONFIRM_EMAIL, **_USER)
async def _confirm_email(call: Call[ConfirmEmail]) -> AddressAnswer:
    given, me = call.given, _me(call)
    if given.old_code is None and given.new_code is None:
        raise Invalid("new_code", "missing", "Type the code of at least one of the two mails.")
    by = call.audit(AuditImage.USER, me)
    own = call.services.people.account
    user, change = await own.confirm_email(me, given.old_code, given.new_code, by)
    if change is None:
        return AddressAnswer(user.email, None, 0)
    return AddressAnswer(user.email, pending_address(change), ATTEMPTS_MAX - change.attempts)


@OPERATIONS(account.ACCEPT, **_INVITATION)
async def _accept(call: Call[OfInvitation]) -> ReachableOrganization:
    invitation_id = call.given.invitation_id
    by = call.audit(AuditImage.INVITATION, invitation_id)
    return await call.services.people.memberships.accept(_me(call), invitation_id, by)


@OPERATIONS(account.DECLINE, **_INVITATION)
async def _decline(call: Call[OfInvitation]) -> Nothing:
    invitation_id = call.given.invitation_id
    by = call.audit(AuditImage.INVITATION, invitation_id)
    await call.services.people.memberships.decline(_me(call), invitation_id, by)
    return Nothing()


@OPERATIONS(account.LEAVE, roles=USERS, changes=MemberView)
async def _leave(call: Call[OfOrganization]) -> Nothing:
    organization_id, me = call.given.organization_id, _me(call)
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
    return await call.services.people.memberships.found(_me(call), call.given.name, by)
