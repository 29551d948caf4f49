"""Who performs an operation: a person or the process itself, by which face, in which role."""

from __future__ import annotations

import pwd
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from risala.engine.model.commands import Principal


class CallerKind(StrEnum):
    """The face of Risala that somebody used."""

    CLI = "cli"
    """A command that opened the engine by itself."""
    CONTROL = "control"
    """The control socket: a command beside a running service."""
    DASHBOARD = "dashboard"
    CONSOLE = "console"
    API = "api"
    """A program with a secret key."""
    SMPP = "smpp"
    """The SMPP server: a customer's software, by a credential."""
    SYSTEM = "system"
    """No face: the process acts by itself."""


class Role(StrEnum):
    """What somebody may do. Owners, developers and viewers belong to one organization."""

    SYSTEM = "system"
    OPERATOR = "operator"
    USER = "user"
    """Somebody who is signed in, and asks for what is theirs alone: their account."""
    OWNER = "owner"
    DEVELOPER = "developer"
    VIEWER = "viewer"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who performs an operation. The face that somebody used has checked who they are."""

    who: str
    """Their name in the audit trail: a user of this machine, an e-mail address, a key's id."""
    face: CallerKind
    role: Role
    organization_id: str | None = None
    """The one organization that an owner, developer or viewer sees; None for all others."""
    user_id: str | None = None
    """The user who signed in; None for somebody at this machine."""

    def __post_init__(self) -> None:
        if (self.organization_id is None) == self.is_member:
            raise ValueError("a member has an organization, and nobody else has")
        if self.role is Role.USER and self.user_id is None:
            raise ValueError("who asks for what is theirs has an account")

    @property
    def is_member(self) -> bool:
        return self.role in (Role.OWNER, Role.DEVELOPER, Role.VIEWER)


PROCESS: Final = Caller("risala", CallerKind.SYSTEM, Role.SYSTEM)
"""Risala itself: the demo that makes its own organization."""


def operator_by(face: CallerKind, uid: int | None) -> Caller:
    """A user of this machine as the operator.

    Whoever may open the data directory or its socket may do everything; the files' modes decide who
    may.

    Args:
        uid: the user's number; None where the system does not tell it.
    """
    who = "a user of this machine" if uid is None else user_name(uid)
    return Caller(who, face, Role.OPERATOR)


def key_holder(principal: Principal) -> Caller:
    """A program with a secret key: it may do what a developer of its organization may."""
    return Caller(principal.key_id, CallerKind.API, Role.DEVELOPER, principal.organization_id)


def user_name(uid: int) -> str:
    """The name of a user of this machine, for the audit trail."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"  # a user without a name here: of a container, or deleted
