"""Who may open a page."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from risala.engine.model.callers import Role


class PageAccess(StrEnum):
    """Who may open a page. Each role of an organization includes the roles below it."""

    PUBLIC = "public"
    SIGNED_IN = "signed-in"
    """Anyone with an account, in any organization."""
    OPERATOR = "operator"
    """The operators of the service, with a session of the console."""
    VIEWER = "viewer"
    DEVELOPER = "developer"
    OWNER = "owner"

    @property
    def roles(self) -> frozenset[Role]:
        """The roles in the organization of the address; empty: a page without an organization."""
        return _ROLES[self]


_ROLES: Final = {
    PageAccess.PUBLIC: frozenset[Role](),
    PageAccess.SIGNED_IN: frozenset[Role](),
    PageAccess.OPERATOR: frozenset[Role](),
    PageAccess.VIEWER: frozenset({Role.VIEWER, Role.DEVELOPER, Role.OWNER}),
    PageAccess.DEVELOPER: frozenset({Role.DEVELOPER, Role.OWNER}),
    PageAccess.OWNER: frozenset({Role.OWNER}),
}
