"""Lists of users, and what changes of one."""

from __future__ import annotations

from typing import TypedDict

from risala.dataclass import dataclass
from risala.engine.model.people import User


class UserFields(TypedDict, total=False):
    """Changed fields of a user, as they are stored; missing ones stay."""

    email: str
    name: str
    language: str
    operator: bool
    operator_role: str | None


@dataclass(frozen=True, slots=True)
class UserFilter:
    """Which users are in a list; None: any."""

    search: str | None = None
    """Part of the address or of the name."""
    operators: bool | None = None


@dataclass(frozen=True, slots=True)
class UsersFound:
    users: tuple[User, ...]
    next: str | None
    """The address to continue after; None: this is the last page."""
    previous: str | None
    """The address to go back before; None: this is the first page."""
