"""What an organization stores, besides its messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.records.fields import Count

LIMITED: Final = ("mailings", "lists", "uploads")
"""The kinds that count against an organization's limit: what it adds itself, and may delete."""
STORED_FULL: Final = (
    "The organization stores as much as it may. Delete ended mailings, drafts or lists that it does"
    " not need."
)
"""The refusal of one more mailing, list or upload."""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table of things that take room: it has the columns ``organization_id`` and ``bytes``."""

    table: str
    rows: str
    """The column that says how many rows each has."""
    where: str = ""
    """A condition of those that take room; empty: all do."""
    is_limited: bool = True
    """The rows count against the organization's limit."""


@dataclass(frozen=True, slots=True)
class StoredOfKind:
    """One kind of thing, and what it takes on the disk."""

    name: str
    """``mailings``, ``lists``, ``uploads`` or ``exports``."""
    count: Count
    rows: Count
    """The rows of all of them; 0 of uploads, which are not read yet."""
    bytes: Count


def limited_bytes(stored: Iterable[StoredOfKind]) -> int:
    """What counts against the limit."""
    return sum(each.bytes for each in stored if each.name in LIMITED)


@dataclass(frozen=True, slots=True)
class FullOrganization:
    """An organization that stores much of what it may."""

    organization_id: str
    name: str
    bytes: int
