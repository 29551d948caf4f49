"""Who may do what. Pure; what each operation allows stands beside the operation."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from risala.engine.model.callers import Caller, Role

OPERATORS: Final = frozenset({Role.OPERATOR, Role.SYSTEM})
"""For operations of the operator, and of the process itself."""
USERS: Final = frozenset({Role.USER})
"""For operations on one's own account, by whoever is signed in."""
OWNERS: Final = OPERATORS | {Role.OWNER}
"""For operations of owners too: members, money, settings, deletion."""
DEVELOPERS: Final = OWNERS | {Role.DEVELOPER}
"""For operations of developers too: sending, keys, senders, Verify settings, webhooks."""
VIEWERS: Final = DEVELOPERS | {Role.VIEWER}
"""For operations of everybody in the organization: reading, the texts of messages included."""


class RoleVerdict(Enum):
    """Whether a caller may do something."""

    ALLOWED = auto()
    HIDDEN = auto()
    """The thing is another organization's: the caller is told that there is no such thing."""
    FORBIDDEN = auto()
    """The operation is not for the caller's role."""


def judge(
    caller: Caller, roles: frozenset[Role], organization_id: str | None, *, for_all: bool = False
) -> RoleVerdict:
    """Whether a caller may do something to a thing of ``organization_id``.

    Args:
        organization_id: whose thing it is; None: of no organization, or of all of them, which
            members may not touch unless it is ``for_all``.
        for_all: members may do it though the thing is of no organization.
    """
    if not caller.is_member:
        return RoleVerdict.ALLOWED if caller.role in roles else RoleVerdict.FORBIDDEN
    if organization_id is not None and organization_id != caller.organization_id:
        return RoleVerdict.HIDDEN
    if caller.role not in roles or (organization_id is None and not for_all):
        return RoleVerdict.FORBIDDEN
    return RoleVerdict.ALLOWED
