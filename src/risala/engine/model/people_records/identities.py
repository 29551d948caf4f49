"""Accounts at identity providers."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.model.callers import OperatorRole, Role


@dataclass(frozen=True, slots=True)
class LinkedIdentity:
    """A user's account at an identity provider."""

    organization_id: str
    """Whose provider it is; empty: the console's."""
    issuer: str
    subject: str
    """What the provider calls the person; it never gives this to another one."""
    user_id: str
    created_at: int
    used_at: int


@dataclass(frozen=True, slots=True)
class ShownIdentity:
    """A person, as an identity provider's checked answer names them."""

    issuer: str
    subject: str
    email: str
    """In its one form: verified by the provider, and of a domain that is its own."""
    two_factors: bool
    role: OperatorRole | Role | None
    """What the provider gives them, in the console or in its organization; None: it gives no
    roles."""
    makes: bool
    """With a role the person becomes an operator, or a member."""
    organization_id: str = ""
    """Whose provider it is; empty: the console's."""
    is_anew: bool = False
    """The person signed in at the provider just now."""
