"""Users, by the operator's hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from risala.engine.model.audit import AuditImage
from risala.engine.model.callers import CallerKind
from risala.engine.model.errors import Forbidden
from risala.engine.model.people import Device, Language, ReachableOrganization, SessionKind
from risala.engine.model.people_records.users import UserFilter
from risala.engine.model.times import iso
from risala.engine.operations.arguments import (
    Arguments,
    Json,
    MaybeAnyText,
    MaybeFlag,
    MaybeText,
    MaybeWhole,
    Text,
)
from risala.engine.operations.operation import Call, Operation
from risala.engine.operations.people.account import Ended, VersionedUser, versioned_wire
from risala.engine.operations.people.wire import (
    MaybeLanguage,
    device_wire,
    place_wire,
)
from risala.engine.people.users import MadeLink, UserChange
from risala.engine.rules.roles import OPERATORS

PAGE_MAX: Final = 200
PAGES_OWN: Final = frozenset({CallerKind.DASHBOARD, CallerKind.CONSOLE})
"""By a page nobody becomes an operator, and nobody gets a way into another's account."""


class OfUser(Arguments):
    email: Text


class CreateUser(OfUser):
    name: MaybeAnyText = None
    language: MaybeLanguage = None
    operator: MaybeFlag = None


class SetUser(OfUser):
    new_email: MaybeText = None
    name: MaybeAnyText = None
    language: MaybeLanguage = None
    operator: MaybeFlag = None
    version: MaybeWhole = None


class ListUsers(Arguments):
    """A page of users, in the order of their addresses."""

    search: MaybeText = None
    """Part of the address or of the name."""
    operator: MaybeFlag = None
    """Whether they are operators; None: whichever."""
    after: MaybeAnyText = None
    """The last address of the page before."""
    before: MaybeText = None
    """The first address of the page after."""
    limit: MaybeWhole = None


class EndSessions(OfUser):
    """End one of a user's sessions, or all."""

    session_id: MaybeText = None
    """None: all."""


class LinkFor(OfUser):
    operator: MaybeFlag = None
    """To the console instead of the dashboard."""


@dataclass(frozen=True, slots=True)
class ListedUser:
    """A user, and of how many organizations they are a member."""

    user: VersionedUser
    organizations: int


@dataclass(frozen=True, slots=True)
class UserPage:
    users: tuple[ListedUser, ...]
    next: str | None
    previous: str | None


@dataclass(frozen=True, slots=True)
class UserSessions:
    """Where a user is signed in, the newest first."""

    user: VersionedUser
    sessions: tuple[Device, ...]


@dataclass(frozen=True, slots=True)
class UserStory:
    user: VersionedUser
    places: tuple[ReachableOrganization, ...]
    devices: tuple[Device, ...]


def _page_wire(found: UserPage) -> Json:
    users = [
        {**versioned_wire(each.user), "organizations": each.organizations} for each in found.users
    ]
    return {"users": users, "next": found.next, "previous": found.previous}


def _sessions_wire(found: UserSessions) -> Json:
    sessions = [device_wire(each) for each in found.sessions]
    return {"user": versioned_wire(found.user), "sessions": sessions}


def _story_wire(found: UserStory) -> Json:
    return {
        "user": versioned_wire(found.user),
        "memberships": [place_wire(each) for each in found.places],
        "devices": [device_wire(each) for each in found.devices],
    }


def _link_wire(made: MadeLink) -> Json:
    return {
        "email": made.user.email,
        "kind": made.kind.value,
        "token": made.token,
        "url": made.url,
        "expiresAt": iso(made.expires_at),
    }


def _ended_wire(found: Ended) -> Json:
    return {"ended": found.ended}


def _refuse_pages(call: Call[Any], what: str) -> None:
    if call.caller.face in PAGES_OWN:
        raise Forbidden(f"{what} is for the command line alone.")


async def _create(call: Call[CreateUser]) -> VersionedUser:
    given, users = call.given, call.services.people.users
    if given.operator:
        _refuse_pages(call, "Making an operator")
    made = await users.create(
        given.email,
        given.name or "",
        given.language or Language.FRENCH,
        call.audit(AuditImage.USER),
        operator=bool(given.operator),
    )
    return VersionedUser(made, users.version(made.id))


async def _list(call: Call[ListUsers]) -> UserPage:
    given, users = call.given, call.services.people.users
    stored = call.services.repositories.users
    limit = PAGE_MAX if given.limit is None else max(1, min(given.limit, PAGE_MAX))
    wanted = UserFilter(given.search, given.operator)
    found = stored.page(wanted, after=given.after or "", before=given.before, limit=limit)
    listed = tuple(
        ListedUser(VersionedUser(each, users.version(each.id)), stored.count_organizations(each.id))
        for each in found.users
    )
    return UserPage(listed, found.next, found.previous)


async def _sessions(call: Call[OfUser]) -> UserSessions:
    users = call.services.people.users
    user = users.find(call.given.email)
    devices = tuple(call.services.people.account.devices(user.id))
    return UserSessions(VersionedUser(user, users.version(user.id)), devices)


async def _show(call: Call[OfUser]) -> UserStory:
    people = call.services.people
    user = people.users.find(call.given.email)
    return UserStory(
        VersionedUser(user, people.users.version(user.id)),
        tuple(people.memberships.organizations(user.id)),
        tuple(people.account.devices(user.id)),
    )


async def _set(call: Call[SetUser]) -> VersionedUser:
    given, users = call.given, call.services.people.users
    user = users.find(given.email)
    if given.operator is not None:
        _refuse_pages(call, "Making an operator")
    change = UserChange(given.new_email, given.name, given.language, given.operator)
    by = call.audit(AuditImage.USER, user.id)
    changed = await users.change(user.id, change, by)
    return VersionedUser(changed, users.version(changed.id))


async def _link(call: Call[LinkFor]) -> MadeLink:
    _refuse_pages(call, "A link into somebody's account")
    users = call.services.people.users
    user = users.find(call.given.email)
    kind = SessionKind.OPERATOR if call.given.operator else SessionKind.CUSTOMER
    by = call.audit(AuditImage.USER, user.id, said={"link": kind.value})
    return await users.link(user, kind, by)


@dataclass(frozen=True, slots=True)
class EndedUser:
    """A user who is no more."""

    user_id: str


def _deleted_wire(gone: EndedUser) -> Json:
    return {"id": gone.user_id}


async def _sign_out(call: Call[EndSessions]) -> Ended:
    account, session_id = call.services.people.account, call.given.session_id
    user = call.services.people.users.find(call.given.email)
    said = {} if session_id is None else {"session": session_id}
    by = call.audit(AuditImage.USER, user.id, said=said)
    return Ended(await account.sign_out(user.id, session_id, None, by))


async def _delete(call: Call[OfUser]) -> EndedUser:
    """At their wish, where they cannot sign in any more; no name is left in the line."""
    people = call.services.people
    user = people.users.find(call.given.email)
    await people.ending.delete(user.id, call.audit(subject=user.id))
    return EndedUser(user.id)


OPERATIONS: Final[tuple[Operation[Any, Any], ...]] = (
    Operation(
        name="user.create",
        arguments=CreateUser,
        result=VersionedUser,
        wire=versioned_wire,
        handler=_create,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="user.list",
        arguments=ListUsers,
        result=UserPage,
        wire=_page_wire,
        handler=_list,
        roles=OPERATORS,
    ),
    Operation(
        name="user.show",
        arguments=OfUser,
        result=UserStory,
        wire=_story_wire,
        handler=_show,
        roles=OPERATORS,
    ),
    Operation(
        name="user.set",
        arguments=SetUser,
        result=VersionedUser,
        wire=versioned_wire,
        handler=_set,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="user.sign_in",
        arguments=LinkFor,
        result=MadeLink,
        wire=_link_wire,
        handler=_link,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="user.sessions",
        arguments=OfUser,
        result=UserSessions,
        wire=_sessions_wire,
        handler=_sessions,
        roles=OPERATORS,
    ),
    Operation(
        name="user.sign_out",
        arguments=EndSessions,
        result=Ended,
        wire=_ended_wire,
        handler=_sign_out,
        roles=OPERATORS,
        changes=True,
    ),
    Operation(
        name="user.delete",
        arguments=OfUser,
        result=EndedUser,
        wire=_deleted_wire,
        handler=_delete,
        roles=OPERATORS,
        changes=True,
    ),
)
