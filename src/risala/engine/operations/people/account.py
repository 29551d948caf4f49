"""What whoever is signed in does to their own account."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.commands import Organization
from risala.engine.model.errors import Invalid
from risala.engine.model.people import EmailChange, ReachableOrganization
from risala.engine.model.records.asks import Nothing
from risala.engine.model.records.people.members import Invitation
from risala.engine.model.records.people.users import (
    Ended,
    UserDevice,
    VersionedUser,
    user_device,
    versioned,
)
from risala.engine.model.records.record import to_json
from risala.engine.model.wire import organization_wire
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeAnyText,
    MaybeText,
    MaybeWhole,
    NoArguments,
    OfOrganization,
    Text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.operations.people.wire import (
    MaybeLanguage,
    change_wire,
)
from risala.engine.people.account import ChangeAnswer
from risala.engine.rules.roles import USERS


class SetAccount(Arguments):
    name: MaybeAnyText = None
    language: MaybeLanguage = None
    version: MaybeWhole = None


class SignOut(Arguments):
    session_id: MaybeText = None
    """None: all but the one that asks."""
    but: MaybeText = None
    """The one that asks."""


class ChangeEmail(Arguments):
    email: Text


class ConfirmEmail(Arguments):
    old_code: MaybeText = None
    new_code: MaybeText = None


class OfInvitation(Arguments):
    invitation_id: Text


class OwnOrganization(Arguments):
    name: Text


class LeaveOrganization(OfOrganization):
    pass


@dataclass(frozen=True, slots=True)
class AccountStory:
    user: VersionedUser
    places: tuple[ReachableOrganization, ...]
    invitations: tuple[Invitation, ...]
    change: EmailChange | None


@dataclass(frozen=True, slots=True)
class Devices:
    devices: tuple[UserDevice, ...]


def _account_wire(found: AccountStory) -> Json:
    return {
        "user": to_json(found.user),
        "memberships": [to_json(each) for each in found.places],
        "invitations": [to_json(each) for each in found.invitations],
        "change": None if found.change is None else change_wire(found.change),
    }


def _answer_wire(answer: ChangeAnswer) -> Json:
    change = None if answer.change is None else change_wire(answer.change)
    return {"email": answer.user.email, "change": change, "attemptsLeft": answer.attempts_left}


def _me(call: Call[Any]) -> str:
    """Operations here are for users alone, who have an id."""
    assert call.caller.user_id is not None
    return call.caller.user_id


async def _show(call: Call[NoArguments]) -> AccountStory:
    people, me = call.services.people, _me(call)
    user = people.account.user(me)
    return AccountStory(
        versioned(user, people.account.version(me)),
        tuple(people.memberships.organizations(me)),
        tuple(people.memberships.invitations_to(user.email)),
        people.account.pending_change(me),
    )


async def _set(call: Call[SetAccount]) -> VersionedUser:
    given, account, me = call.given, call.services.people.account, _me(call)
    by = call.audit(AuditImage.USER, me)
    user = await account.change(me, given.name, given.language, by)
    return versioned(user, account.version(me))


async def _devices(call: Call[NoArguments]) -> Devices:
    return Devices(tuple(map(user_device, call.services.people.account.devices(_me(call)))))


async def _sign_out(call: Call[SignOut]) -> Ended:
    given, me = call.given, _me(call)
    account = call.services.people.account
    return Ended(await account.sign_out(me, given.session_id, given.but, call.audit(subject=me)))


async def _change_email(call: Call[ChangeEmail]) -> EmailChange:
    me, email = _me(call), call.given.email
    by = call.audit(AuditImage.USER, me, said={"asked": email})
    return await call.services.people.account.change_email(me, email, by)


async def _confirm_email(call: Call[ConfirmEmail]) -> ChangeAnswer:
    given, me = call.given, _me(call)
    if given.old_code is None and given.new_code is None:
        raise Invalid("new_code", "missing", "Type the code of at least one of the two mails.")
    by = call.audit(AuditImage.USER, me)
    account = call.services.people.account
    return await account.confirm_email(me, given.old_code, given.new_code, by)


async def _accept(call: Call[OfInvitation]) -> ReachableOrganization:
    invitation_id = call.given.invitation_id
    by = call.audit(AuditImage.INVITATION, invitation_id)
    return await call.services.people.memberships.accept(_me(call), invitation_id, by)


async def _decline(call: Call[OfInvitation]) -> Nothing:
    invitation_id = call.given.invitation_id
    by = call.audit(AuditImage.INVITATION, invitation_id)
    await call.services.people.memberships.decline(_me(call), invitation_id, by)
    return Nothing()


async def _leave(call: Call[LeaveOrganization]) -> Nothing:
    organization_id, me = call.given.organization_id, _me(call)
    by = call.audit(AuditImage.MEMBER, me, organization_id=organization_id)
    await call.services.people.memberships.leave(organization_id, me, by)
    return Nothing()


async def _found(call: Call[OwnOrganization]) -> Organization:
    by = call.audit(AuditImage.ORGANIZATION)
    return await call.services.people.memberships.found(_me(call), call.given.name, by)


async def _delete(call: Call[NoArguments]) -> Nothing:
    me = _me(call)
    await call.services.people.ending.delete(me, call.audit(subject=me))
    return Nothing()


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="account.show",
        arguments=NoArguments,
        result=AccountStory,
        wire=_account_wire,
        handler=_show,
        roles=USERS,
    ),
    Operation(
        name="account.set",
        arguments=SetAccount,
        result=VersionedUser,
        wire=to_json,
        handler=_set,
        roles=USERS,
        changes=True,
    ),
    Operation(
        name="account.devices",
        arguments=NoArguments,
        result=Devices,
        wire=to_json,
        handler=_devices,
        roles=USERS,
    ),
    Operation(
        name="account.sign_out",
        arguments=SignOut,
        result=Ended,
        wire=to_json,
        handler=_sign_out,
        roles=USERS,
        changes=True,
    ),
    Operation(
        name="account.change_email",
        arguments=ChangeEmail,
        result=EmailChange,
        wire=change_wire,
        handler=_change_email,
        roles=USERS,
        changes=True,
    ),
    Operation(
        name="account.confirm_email",
        arguments=ConfirmEmail,
        result=ChangeAnswer,
        wire=_answer_wire,
        handler=_confirm_email,
        roles=USERS,
        changes=True,
    ),
    Operation(
        name="account.accept",
        arguments=OfInvitation,
        result=ReachableOrganization,
        wire=to_json,
        handler=_accept,
        roles=USERS,
        changes=True,
    ),
    Operation(
        name="account.decline",
        arguments=OfInvitation,
        result=Nothing,
        wire=to_json,
        handler=_decline,
        roles=USERS,
        changes=True,
    ),
    Operation(
        name="account.leave",
        arguments=LeaveOrganization,
        result=Nothing,
        wire=to_json,
        handler=_leave,
        roles=USERS,
        changes=True,
    ),
    Operation(
        name="account.delete",
        arguments=NoArguments,
        result=Nothing,
        wire=to_json,
        handler=_delete,
        roles=USERS,
        changes=True,
    ),
    Operation(
        name="org.found",
        arguments=OwnOrganization,
        result=Organization,
        wire=organization_wire,
        handler=_found,
        roles=USERS,
        changes=True,
    ),
)
