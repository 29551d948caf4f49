"""Lists of people, and saved texts, shared in an organization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from risala.dataclass import dataclass
from risala.engine.features.tables.records import NAME_MAX, ROWS_MAX, RowFault
from risala.engine.model.records.asks import Ask, NumberPart
from risala.engine.model.records.fields import (
    AUDITED,
    N_,
    UNAUDITED,
    Count,
    Label,
    Maximum,
    Moment,
)
from risala.sms.limits import TEXT_CHARACTERS_MAX

LISTS_MAX: Final = 200
"""Lists of one organization."""
TEXTS_MAX: Final = 200
"""Saved texts of one organization."""
UNTOLD: Final = frozenset((RowFault.NUMBER, RowFault.NUMBER_MISSING))
"""Faults of rows that a growth says by their places alone: they have no number."""
FULL: Final = f"A list can have at most {ROWS_MAX} people."
"""The refusal of more."""
NewPerson = tuple[str, Sequence[str]]
"""A number, and a value for each of the given columns."""
LANGUAGES: Final = ("fr", "ar", "en")
"""Languages that a saved text can be in."""


@dataclass(frozen=True, slots=True)
class RecipientList:
    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    name: Annotated[str, AUDITED, Label(N_("Name")), Maximum(NAME_MAX)]
    columns: Annotated[tuple[str, ...], AUDITED]
    """The columns of values, without the number."""
    people: Annotated[Count, UNAUDITED]
    created_at: Annotated[Moment, UNAUDITED]
    created_by: Annotated[str, UNAUDITED]
    changed_at: Annotated[Moment, UNAUDITED]


@dataclass(frozen=True, slots=True)
class RecipientLists:
    """The lists of an organization, by name."""

    lists: tuple[RecipientList, ...]


@dataclass(frozen=True, slots=True)
class ListedPerson:
    number: str
    cells: tuple[str, ...]
    """A value for each column of the list."""
    opted_out: bool
    """The person opted out of the organization, or of this list."""
    opted_out_here: bool = False
    """The person opted out of this list alone."""


@dataclass(frozen=True, slots=True)
class PeopleFilter:
    """Which people of a list are on a page; None: any."""

    number: str | None = None
    part: NumberPart | None = None
    """Digits of the number."""
    contains: str | None = None
    """Words of a value."""


@dataclass(frozen=True, slots=True)
class ListPeople:
    """A page of a list, by number."""

    list: RecipientList
    people: tuple[ListedPerson, ...]
    after: str | None
    """The last number of this page, where the next one begins; None: this is the last page."""
    opted_out: Count
    """How many people of the whole list opted out."""


@dataclass(frozen=True, slots=True)
class ListGrowth:
    """What became of rows that were added."""

    list: RecipientList
    added: Count
    changed: Count
    """Numbers that were there already: their values are those of the new rows."""
    bad: Count
    """Rows without a number that can be read."""
    bad_rows: tuple[int, ...]
    """The first of them, as the file counts its rows."""
    faults: tuple[RowFault, ...] = ()
    """What is wrong with each of these."""
    countries: tuple[str | None, ...] = ()
    """The country of each of these, by its ISO 3166-1 letters, where the number's country is not
    served."""
    sheet: str | None = None
    """The sheet of a workbook that these rows are from."""
    hidden_rows: Count = 0
    hidden_columns: Count = 0
    """What the sheet hides, by hand or by a filter, and has anything in it."""
    with_hidden: bool = False
    """Whether that was read too."""
    upload: str | None = None
    """The file, where some of it was left out as hidden: `list.add` takes it in with
    `with_hidden`, for a day, and until the next file of the organization that hides some."""


@dataclass(frozen=True, slots=True)
class Grown:
    """A list after a piece of people was added."""

    list: RecipientList
    places: tuple[int, ...]
    """The place of each given column among the list's columns."""
    added: int
    changed: int
    """Numbers that it had already."""


@dataclass(frozen=True, slots=True)
class SavedText:
    id: Annotated[str, UNAUDITED]
    organization_id: Annotated[str, UNAUDITED]
    name: Annotated[str, AUDITED, Label(N_("Name")), Maximum(NAME_MAX)]
    language: Annotated[str, AUDITED, Label(N_("Language"))]
    """``fr``, ``ar`` or ``en``."""
    text: Annotated[str, UNAUDITED, Label(N_("Text")), Maximum(TEXT_CHARACTERS_MAX)]
    created_at: Annotated[Moment, UNAUDITED]
    created_by: Annotated[str, UNAUDITED]


@dataclass(frozen=True, slots=True)
class SavedTexts:
    """The saved texts of an organization, by name and language."""

    texts: tuple[SavedText, ...]


CREATE: Final = Ask("list.create", ListGrowth)
LIST: Final = Ask("list.list", RecipientLists)
SHOW: Final = Ask("list.show", ListPeople)
SET: Final = Ask("list.set", RecipientList)
ADD: Final = Ask("list.add", ListGrowth)
REMOVE: Final = Ask("list.remove", RecipientList)
DELETE: Final = Ask("list.delete", RecipientList)
TEXT_CREATE: Final = Ask("text.create", SavedText)
TEXT_LIST: Final = Ask("text.list", SavedTexts)
TEXT_SHOW: Final = Ask("text.show", SavedText)
TEXT_SET: Final = Ask("text.set", SavedText)
TEXT_DELETE: Final = Ask("text.delete", SavedText)
