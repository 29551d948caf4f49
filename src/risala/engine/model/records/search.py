"""The search over everything: what it answers, what it looks for, and what features declare as
findable."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.model.callers import OperatorRole
from risala.engine.model.records.asks import Ask, NumberPart
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
    """The page's address; without a scheme and host if the public address is not set."""
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


# -- within the engine


@dataclass(frozen=True, slots=True)
class SearchWords:
    """What somebody typed, and what it may be."""

    text: str
    """Without spaces around it, and with single ones inside."""
    organization_id: str | None
    """None: an operator searches all organizations."""
    mode: str
    """Whose messages and sessions are meant."""
    of_mode: bool
    """Whether nothing of the other mode is found."""
    part: NumberPart | None = None
    """Digits of a number; None: there are too few, or it is no number."""
    id_end: str = ""
    """What may be the end of an id, or a whole one."""
    most: int = 8
    """Items of one kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """Something that fits."""

    kind: str
    id: str
    title: str
    at: int
    """UTC epoch milliseconds."""
    page: str
    """The page's address, below that of the organization or of the console."""
    mode: str | None = None
    state: str | None = None
    note: str | None = None
    """What else tells it from others: words of its text, the carrier's own word."""
    organization: str | None = None
    """The organization's name, where all are searched."""


Find = Callable[[Any, SearchWords], Sequence[SearchHit]]
"""How a kind is found that is no plain table: a function of a connection and the words."""
FindElsewhere = Callable[[Any, SearchWords], Awaitable[Sequence[SearchHit]]]
"""How a kind is found that is not in the database: a function of the services and the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findable:
    """A kind of things that a search finds: a table, and expressions of its columns."""

    kind: str
    table: str
    """What stands behind ``FROM``."""
    title: str
    names: tuple[str, ...] = ()
    """What is searched for the words."""
    texts: tuple[str, ...] = ()
    """What is searched for them too where one organization is: never by the console."""
    number: str = ""
    """The column of a number; empty: there is none."""
    number_from: str = ""
    """The table with an index of it; empty: ``table``."""
    number_by: tuple[str, ...] = ("organization_id",)
    """The columns before it in that index: of the organization, and of the mode."""
    prefix: str = ""
    """What the kind's ids begin with; empty: they are not looked for."""
    id: str = "id"
    place: str = "id"
    """What stands for ``{}`` in an address."""
    at: str = "created_at"
    newest: str = "id"
    """The order by which the newest are read first."""
    organization: str | None = "organization_id"
    """The column with its organization; None: it has none, and operators alone find it."""
    where: str = "1"
    mode: str | None = None
    state: str = "NULL"
    note: str = "NULL"
    page: str | None = None
    """The address for members; None: they do not find it."""
    console: str | None = None
    """The address in the console; None: a search over all organizations does not find it."""
    operators: frozenset[OperatorRole] = frozenset(OperatorRole)
    """The operators who may open its page; members may all."""
    find: Find | None = None
    """Instead of the columns."""
    elsewhere: FindElsewhere | None = None
    """For what is not in the database, and found by its id."""
