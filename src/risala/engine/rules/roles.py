"""Who may do what. Pure; what each operation allows stands beside the operation."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from risala.engine.model.callers import Caller, Role

OPERATORS: Final = frozenset({Role.OPERATOR, Role.SYSTEM})
"""The operator, and the process itself."""
OWNERS: Final = OPERATORS | {Role.OWNER}
"""Owners too: members, money, settings, deletion."""
DEVELOPERS: Final = OWNERS | {Role.DEVELOPER}
"""Developers too: sending, keys, senders, Verify settings, webhooks."""
VIEWERS: Final = DEVELOPERS | {Role.VIEWER}
"""Everybody of the organization: reading, bodies too."""


class RoleVerdict(Enum):
    ALLOWED = auto()
    HIDDEN = auto()
    """It is another organization's: for this caller it is not there."""
    FORBIDDEN = auto()
    """It is there, and not for this role."""


def judge(
    caller: Caller, roles: frozenset[Role], organization_id: str | None, *, for_all: bool = False
) -> RoleVerdict:
    """Whether a caller may do something to a thing of ``organization_id``.

    None: the thing is of no organization, or of all of them; that is no member's business, unless
    it is ``for_all``.
    """
    if not caller.is_member:
        return RoleVerdict.ALLOWED if caller.role in roles else RoleVerdict.FORBIDDEN
    if organization_id is not None and organization_id != caller.organization_id:
        return RoleVerdict.HIDDEN
    if caller.role not in roles or (organization_id is None and not for_all):
        return RoleVerdict.FORBIDDEN
    return RoleVerdict.ALLOWED
