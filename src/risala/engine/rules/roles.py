"""Permissions: which role may do what. Pure; each operation names its own permission."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from risala.engine.model.callers import Caller, OperatorRole, Role

OPERATORS: Final = frozenset({Role.OPERATOR, Role.SYSTEM})
"""For operations of the operator, and of the process itself."""
USERS: Final = frozenset({Role.USER})
"""For operations on one's own account, by any signed-in user."""
OWNERS: Final = OPERATORS | {Role.OWNER}
"""For operations of owners too: members, money, settings, deletion."""
DEVELOPERS: Final = OWNERS | {Role.DEVELOPER}
"""For operations of developers too: sending, keys, senders, Verify settings, webhooks."""
VIEWERS: Final = DEVELOPERS | {Role.VIEWER}
"""For operations of all members of the organization: reading, including the texts of messages."""

ADMINISTRATORS: Final = frozenset({OperatorRole.ADMINISTRATOR})
"""Operators who may do what an operation does not give to others."""
FINANCE: Final = ADMINISTRATORS | {OperatorRole.FINANCE}
"""Operators for what is about money."""
SUPPORT: Final = ADMINISTRATORS | {OperatorRole.SUPPORT}
"""Operators for what is about customers' messages and their access."""
STAFF: Final = FINANCE | SUPPORT
"""Operators who see which people belong to an organization."""
READERS: Final = frozenset(OperatorRole)
"""All operators: reading what names no person."""


class RoleVerdict(Enum):
    """Whether a caller may do something."""

    ALLOWED = auto()
    HIDDEN = auto()
    """The thing belongs to another organization: the caller gets the answer that it does not
    exist."""
    FORBIDDEN = auto()
    """The operation is not for the caller's role."""


def admits(
    caller: Caller, roles: frozenset[Role], operators: frozenset[OperatorRole] = ADMINISTRATORS
) -> bool:
    """Whether an operation for these roles is for the caller's, whatever it is done to."""
    if caller.role is Role.OPERATOR and caller.operator_role not in operators:
        return False
    return caller.role in roles


def judge(
    caller: Caller,
    roles: frozenset[Role],
    organization_id: str | None,
    *,
    for_all: bool = False,
    operators: frozenset[OperatorRole] = ADMINISTRATORS,
) -> RoleVerdict:
    """Whether a caller may do something to an object of ``organization_id``.

    Args:
        organization_id: the owner of the object; None: no organization, or all of them, which
            members may not touch unless it is ``for_all``.
        for_all: members may do it even if the object belongs to no organization.
        operators: the operators who may do it, of any organization.
    """
    if not caller.is_member:
        return RoleVerdict.ALLOWED if admits(caller, roles, operators) else RoleVerdict.FORBIDDEN
    if organization_id is not None and organization_id != caller.organization_id:
        return RoleVerdict.HIDDEN
    if caller.role not in roles or (organization_id is None and not for_all):
        return RoleVerdict.FORBIDDEN
    return RoleVerdict.ALLOWED
