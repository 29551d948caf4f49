"""Who may do what. Pure; each operation names its own permission."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from risala.engine.model.callers import Caller, Role

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


class RoleVerdict(Enum):
    """Whether a caller may do something."""

    ALLOWED = auto()
    HIDDEN = auto()
    """It belongs to another organization: the caller gets the answer that it does not exist."""
    FORBIDDEN = auto()
    """The operation is not for the caller's role."""


def judge(
    caller: Caller, roles: frozenset[Role], organization_id: str | None, *, for_all: bool = False
) -> RoleVerdict:
    """Whether a caller may do something to an object of ``organization_id``.

    Args:
        organization_id: the owner of the object; None: no organization, or all of them, which
            members may not touch unless it is ``for_all``.
        for_all: members may do it even if the object belongs to no organization.
    """
    if not caller.is_member:
        return RoleVerdict.ALLOWED if caller.role in roles else RoleVerdict.FORBIDDEN
    if organization_id is not None and organization_id != caller.organization_id:
        return RoleVerdict.HIDDEN
    if caller.role not in roles or (organization_id is None and not for_all):
        return RoleVerdict.FORBIDDEN
    return RoleVerdict.ALLOWED
