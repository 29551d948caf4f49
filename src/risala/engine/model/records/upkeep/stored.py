"""What an organization stores, besides its messages."""

from __future__ import annotations

from risala.dataclass import dataclass
from risala.engine.model.records.fields import Count


@dataclass(frozen=True, slots=True)
class StoredOfKind:
    """One kind of thing, and what it takes on the disk."""

    name: str
    """``mailings``, ``lists``, ``uploads`` or ``exports``."""
    count: Count
    rows: Count
    """Of all of them; 0 of uploads, which are not read yet."""
    bytes: Count


@dataclass(frozen=True, slots=True)
class FullOrganization:
    """An organization that stores much of what it may."""

    organization_id: str
    name: str
    bytes: int
