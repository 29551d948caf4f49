"""The caller of an operation: a person or the process itself, by which face, in which role."""

from __future__ import annotations

import pwd
import re
from enum import StrEnum
from typing import Final

from risala.dataclass import dataclass

_ID: Final = re.compile("[a-z]{2,4}_[0-9A-Z]{10,}")
"""An id of ours: what a program is named by."""


class CallerKind(StrEnum):
    """The face of Risala that a caller uses."""

    CLI = "cli"
    """A command that opens the engine alone."""
    CONTROL = "control"
    """The control socket: a command beside a running service."""
    DASHBOARD = "dashboard"
    CONSOLE = "console"
    API = "api"
    """A program with a secret key."""
    SMPP = "smpp"
    """The SMPP server: a customer's software, with a credential."""
    SYSTEM = "system"
    """No face: the process acts by itself."""


class Role(StrEnum):
    """The permissions of a caller. Owners, developers and viewers belong to one organization."""

    SYSTEM = "system"
    OPERATOR = "operator"
    USER = "user"
    """A signed-in person who needs only their own account."""
    OWNER = "owner"
    DEVELOPER = "developer"
    VIEWER = "viewer"


class OperatorRole(StrEnum):
    """What an operator may do; each operation says who may do it."""

    ADMINISTRATOR = "administrator"
    """Everything."""
    FINANCE = "finance"
    """Reads, and does what is about money: top-ups, adjustments, payments, prices, countries."""
    SUPPORT = "support"
    """Reads, messages too, and helps customers: senders, sessions, carriers' gates."""
    VIEWER = "viewer"
    """Reads what names no person: no messages, no users, no members."""


class Freshness(StrEnum):
    """Whether a caller showed who they are within some minutes."""

    FRESH = "fresh"
    """The caller showed it, or need not: a program, the command line."""
    EXEMPT = "exempt"
    """The caller did not show it, and has no second factor to show: a member."""
    STALE = "stale"
    """The caller did not show it, and can."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The person or program that performs an operation. The face has checked who it is."""

    who: str
    """The caller's name in the audit trail: a user of this machine, an e-mail address, a key's
    id."""
    face: CallerKind
    role: Role
    organization_id: str | None = None
    """The only organization that an owner, developer or viewer sees; None for all others."""
    user_id: str | None = None
    """The signed-in user; None for a person at this machine."""
    operator_role: OperatorRole = OperatorRole.ADMINISTRATOR
    """What an operator may do. A person at this machine may do everything."""
    freshness: Freshness = Freshness.FRESH
    bound: bool = False
    """An organization's identity provider let them in: their account itself is closed to them."""

    def __post_init__(self) -> None:
        if (self.organization_id is None) == self.is_member:
            raise ValueError("a member has an organization, and nobody else has")
        if self.role is Role.USER and self.user_id is None:
            raise ValueError("who asks for what is theirs has an account")

    @property
    def is_member(self) -> bool:
        return self.role in (Role.OWNER, Role.DEVELOPER, Role.VIEWER)

    @property
    def role_word(self) -> str:
        """The caller's role, as a refusal names it."""
        return self.operator_role.value if self.role is Role.OPERATOR else self.role.value


PROCESS: Final = Caller("risala", CallerKind.SYSTEM, Role.SYSTEM)
"""Risala itself: the demo that makes its own organization."""


def operator_by(face: CallerKind, uid: int | None) -> Caller:
    """A user of this machine as the operator.

    A user who can open the data directory or its socket may do everything; the files' modes decide
    who can.

    Args:
        uid: the user's number; None if the system does not provide it.
    """
    who = "a user of this machine" if uid is None else user_name(uid)
    return Caller(who, face, Role.OPERATOR)


def key_holder(key_id: str, organization_id: str) -> Caller:
    """A program with a secret key: it has the rights of a developer of its organization."""
    return Caller(key_id, CallerKind.API, Role.DEVELOPER, organization_id)


def user_name(uid: int) -> str:
    """The name of a user of this machine, for the audit trail."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"  # a user without a name here: of a container, or deleted


def is_at_machine(who: str) -> bool:
    """Whether a name of the audit trail is that of a user of the service's machine, and not a
    person's address or a program's id."""
    return "@" not in who and _ID.fullmatch(who) is None
