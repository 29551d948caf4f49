"""Members and invitations: the answers of their operations, and the asks for them."""

from __future__ import annotations

from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.model.callers import Role
from risala.engine.model.people import Membership, User
from risala.engine.model.records.asks import Ask, Nothing
from risala.engine.model.records.fields import AUDITED, UNAUDITED, Moment


@dataclass(frozen=True, slots=True)
class MemberView:
    """A user as a member of one organization."""

    user_id: Annotated[str, UNAUDITED]
    email: Annotated[str, AUDITED]
    name: Annotated[str, UNAUDITED]
    """Empty: not given."""
    role: Annotated[Role, AUDITED]
    organization_id: Annotated[str, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    version: Annotated[int, UNAUDITED]


def member_of(membership: Membership, user: User, version: int = 0) -> MemberView:
    """A membership with its user."""
    return MemberView(
        user.id,
        user.email,
        user.name,
        membership.role,
        membership.organization_id,
        membership.created_at,
        version,
    )


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation without an answer."""

    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    organization_name: Annotated[str, UNAUDITED]
    email: Annotated[str, AUDITED]
    role: Annotated[Role, AUDITED]
    invited_by: Annotated[str, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    expires_at: Annotated[Moment, UNAUDITED]


@dataclass(frozen=True, slots=True)
class Members:
    """The members and invitations of an organization."""

    members: tuple[MemberView, ...]
    invitations: tuple[Invitation, ...]


LIST: Final = Ask("member.list", Members)
INVITE: Final = Ask("member.invite", Invitation)
UNINVITE: Final = Ask("member.uninvite", Nothing)
SET_ROLE: Final = Ask("member.set_role", MemberView)
REMOVE: Final = Ask("member.remove", MemberView)
ADD: Final = Ask("member.add", MemberView)
