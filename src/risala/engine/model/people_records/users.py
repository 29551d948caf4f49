"""Lists of users, and what changes of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from risala.engine.model.people import User


class UserFields(TypedDict, total=False):
    """Fields of a user that change, as they are stored; those that are left out stay."""

    email: str
    name: str
    language: str
    operator: bool


@dataclass(frozen=True, slots=True)
class UserFilter:
    """Which users a list is of; None: whichever."""

    search: str | None = None
    """Part of the address or of the name."""
    operators: bool | None = None


@dataclass(frozen=True, slots=True)
class UsersFound:
    users: tuple[User, ...]
    next: str | None
    """The address to go on after; None: these are the last."""
    previous: str | None
    """The address to go back before; None: these are the first."""
