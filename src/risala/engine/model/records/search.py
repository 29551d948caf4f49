"""What a search over everything answers."""

from __future__ import annotations

from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.records.asks import Ask
from risala.engine.model.records.fields import Moment

ITEMS_MAX: Final = 50
"""Items of one answer."""
WORDS_MAX: Final = 100
"""Characters that are looked for."""


@dataclass(frozen=True, slots=True)
class FoundItem:
    """Something that a search found."""

    kind: str
    id: str
    title: str
    """A number, a name or a reference."""
    at: Moment
    url: str
    """Its page; without a scheme and host if the public address is not set."""
    mode: str | None
    state: str | None
    note: str | None
    """Words of its text, or the carrier's own word."""
    organization: str | None
    """The organization's name, where all are searched."""


@dataclass(frozen=True, slots=True)
class FoundItems:
    """What a search found, by kind, and of each kind the newest first."""

    items: tuple[FoundItem, ...]
    cut: bool
    """Whether there may be more: of some kind only a part was searched or is shown."""


FIND: Final = Ask("search.find", FoundItems)
