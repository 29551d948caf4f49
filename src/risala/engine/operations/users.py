"""Operators' work on users."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import PlainValidator

from risala.engine.kernel.arguments import (
    ArgumentKind,
    Arguments,
    MaybeAnyName,
    MaybeAnyText,
    MaybeFlag,
    MaybeSearch,
    MaybeText,
    MaybeWhole,
    Text,
    fault,
    maybe,
    text,
)
from risala.engine.kernel.operation import Call, Operations, Weight
from risala.engine.model.audit import AuditImage
from risala.engine.model.callers import CallerKind, OperatorRole
from risala.engine.model.errors import Forbidden
from risala.engine.model.people import Language, SessionKind
from risala.engine.model.people_records import UserFilter
from risala.engine.model.records.asks import PAGE_MAX
from risala.engine.model.records.people import users
from risala.engine.model.records.people.users import (
    Ended,
    EndedUser,
    ListedUser,
    MadeLink,
    UserPage,
    UserSessions,
    UserStory,
    VersionedUser,
    user_device,
    versioned,
)
from risala.engine.model.records.record import shallow
from risala.engine.people.users import UserChange
from risala.engine.rules.roles import OPERATORS, STAFF, SUPPORT

# Arguments of operations on people.


def _language(value: object) -> Language:
    try:
        return Language(text(value))
    except ValueError:
        raise fault("invalid_language", "`{name}` is `fr`, `ar` or `en`.") from None


def _operator_role(value: object) -> OperatorRole:
    try:
        return OperatorRole(text(value))
    except ValueError:
        raise fault("invalid_role", f"`{{name}}` is one of: {', '.join(OperatorRole)}.") from None


MaybeLanguage = Annotated[
    Language | None, PlainValidator(maybe(_language)), ArgumentKind("`fr`, `ar` or `en`")
]
MaybeOperatorRole = Annotated[
    OperatorRole | None,
    PlainValidator(maybe(_operator_role)),
    ArgumentKind("`administrator`, `finance`, `support` or `viewer`"),
]


PAGES_OWN: Final = frozenset({CallerKind.DASHBOARD, CallerKind.CONSOLE})
"""Pages neither make operators nor give anybody access to another's account."""


class OfUser(Arguments):
    email: Text


class CreateUser(OfUser):
    name: MaybeAnyName = None
    language: MaybeLanguage = None
    operator: MaybeFlag = None
    operator_role: MaybeOperatorRole = None
    """Makes an operator, as `operator` does."""


class SetUser(OfUser):
    new_email: MaybeText = None
    name: MaybeAnyName = None
    language: MaybeLanguage = None
    operator: MaybeFlag = None
    operator_role: MaybeOperatorRole = None
    """The role of a user who is an operator, or becomes one by `operator`."""
    version: MaybeWhole = None


class ListUsers(Arguments):
    """A page of users, in the order of their addresses."""

    search: MaybeSearch = None
    """Part of the address or of the name."""
    operator: MaybeFlag = None
    """Whether they are operators; None: both."""
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
    """Whether the link is to the console instead of the dashboard."""


def _refuse_pages(call: Call[Any], what: str) -> None:
    if call.caller.face in PAGES_OWN:
        raise Forbidden(f"{what} is for the command line alone.")


OPERATIONS: Final = Operations()
_CHANGE: Final[dict[str, Any]] = {"roles": OPERATORS, "changes": VersionedUser}


@OPERATIONS(users.CREATE, **_CHANGE, fresh=True)
async def _create(call: Call[CreateUser]) -> VersionedUser:
    arguments, people = call.arguments, call.services.people.users
    role = arguments.operator_role or (OperatorRole.ADMINISTRATOR if arguments.operator else None)
    if role is not None:
        _refuse_pages(call, "Making an operator")
    made = await people.create(
        arguments.email,
        arguments.name or "",
        arguments.language or Language.FRENCH,
        call.audit(AuditImage.USER),
        operator=role,
    )
    return versioned(made, people.version(made.id))


@OPERATIONS(users.LIST, roles=OPERATORS, operators=STAFF)
async def _list(call: Call[ListUsers]) -> UserPage:
    arguments, people = call.arguments, call.services.people.users
    stored = call.services.repositories.users
    limit = PAGE_MAX if arguments.limit is None else max(1, min(arguments.limit, PAGE_MAX))
    user_filter = UserFilter(arguments.search, arguments.operator)
    page = stored.page(
        user_filter, after=arguments.after or "", before=arguments.before, limit=limit
    )
    listed = tuple(
        ListedUser(
            **shallow(versioned(each, people.version(each.id))),
            organizations=stored.count_organizations(each.id),
        )
        for each in page.users
    )
    return UserPage(listed, page.next, page.previous)


@OPERATIONS(users.SHOW, roles=OPERATORS, operators=STAFF)
async def _show(call: Call[OfUser]) -> UserStory:
    people = call.services.people
    user = people.users.find(call.arguments.email)
    return UserStory(
        versioned(user, people.users.version(user.id)),
        tuple(people.memberships.organizations(user.id)),
        tuple(map(user_device, people.account.devices(user.id))),
        **call.services.repositories.users.story(user.id),
    )


def _weigh(call: Call[SetUser]) -> Weight | None:
    """The weight of a change by a page, which may give an operator another role or address: who has
    two of them has four eyes."""
    arguments = call.arguments
    user = call.services.people.users.find(arguments.email)
    is_access = arguments.operator_role is not None or arguments.new_email is not None
    is_by_page = call.caller.face in PAGES_OWN or call.approval is not None
    if not is_by_page or not user.operator or not is_access:
        return None
    role = None if user.operator_role is None else user.operator_role.value
    return Weight(None, {"email": user.email, "role": role})


@OPERATIONS(users.SET, four_eyes=_weigh, fresh=True, **_CHANGE)
async def _set(call: Call[SetUser]) -> VersionedUser:
    arguments, people = call.arguments, call.services.people.users
    user = people.find(arguments.email)
    if arguments.operator is not None:
        _refuse_pages(call, "Making an operator")
    change = UserChange(
        arguments.new_email,
        arguments.name,
        arguments.language,
        arguments.operator,
        arguments.operator_role,
    )
    by = call.audit(AuditImage.USER, user.id)
    changed = await people.change(user.id, change, by)
    return versioned(changed, people.version(changed.id))


@OPERATIONS(users.SIGN_IN, **_CHANGE)
async def _link(call: Call[LinkFor]) -> MadeLink:
    _refuse_pages(call, "A link into somebody's account")
    people = call.services.people.users
    user = people.find(call.arguments.email)
    kind = SessionKind.OPERATOR if call.arguments.operator else SessionKind.CUSTOMER
    by = call.audit(AuditImage.USER, user.id, details={"link": kind.value})
    return await people.link(user, kind, by)


@OPERATIONS(users.SESSIONS, roles=OPERATORS, operators=STAFF)
async def _sessions(call: Call[OfUser]) -> UserSessions:
    people = call.services.people.users
    user = people.find(call.arguments.email)
    devices = map(user_device, call.services.people.account.devices(user.id))
    return UserSessions(versioned(user, people.version(user.id)), tuple(devices))


@OPERATIONS(users.SIGN_OUT, operators=SUPPORT, **_CHANGE)
async def _sign_out(call: Call[EndSessions]) -> Ended:
    account, session_id = call.services.people.account, call.arguments.session_id
    user = call.services.people.users.find(call.arguments.email)
    details = {} if session_id is None else {"session": session_id}
    by = call.audit(AuditImage.USER, user.id, details=details)
    return Ended(await account.sign_out(user.id, session_id, None, by))


@OPERATIONS(users.DELETE, **_CHANGE, fresh=True)
async def _delete(call: Call[OfUser]) -> EndedUser:
    """Delete a user who asks for it and can no longer sign in; the audit entry has no name."""
    people = call.services.people
    user = people.users.find(call.arguments.email)
    await people.ending.delete(user.id, call.audit(subject=user.id))
    return EndedUser(user.id)
