"""Who performs an operation: a person or the process itself, by which face, in which role."""

from __future__ import annotations

import pwd
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Face(StrEnum):
    """By which door somebody came in."""

    CLI = "cli"
    """A command that opened the engine by itself."""
    CONTROL = "control"
    """The control socket: a command beside a running service."""
    DASHBOARD = "dashboard"
    CONSOLE = "console"
    SYSTEM = "system"
    """No door: the process does it of its own accord."""


class Role(StrEnum):
    """What somebody is here. The last three are of one organization."""

    SYSTEM = "system"
    OPERATOR = "operator"
    OWNER = "owner"
    DEVELOPER = "developer"
    VIEWER = "viewer"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. The face that let them in answers for it."""

    who: str
    """As the audit trail names them: a user of this machine, an e-mail address."""
    face: Face
    role: Role
    organization_id: str | None = None
    """Of an owner, developer or viewer: the one organization that they see. Else None."""

    def __post_init__(self) -> None:
        if (self.organization_id is None) == self.is_member:
            raise ValueError("a member has an organization, and nobody else has")

    @property
    def is_member(self) -> bool:
        return self.role in (Role.OWNER, Role.DEVELOPER, Role.VIEWER)


PROCESS: Final = Caller("risala", Face.SYSTEM, Role.SYSTEM)
"""Risala itself: the demo that makes its own organization."""


def operator_by(face: Face, uid: int | None) -> Caller:
    """The operator that a user of this machine is; None: the system does not say which.

    Who may open the data directory or its socket may do everything: the files' modes say who.
    """
    who = "a user of this machine" if uid is None else user_name(uid)
    return Caller(who, face, Role.OPERATOR)


def user_name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"  # of a container, or deleted
