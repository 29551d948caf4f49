"""What is given for a new mailing, and how its file is to be read."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from risala.dataclass import dataclass
from risala.engine.model.states import Mode

FACE: Final = "mailing"
"""What the timeline of a mailing's message says of the way it came."""

STORED_FULL: Final = (
    "The organization stores as much as it may. Delete ended mailings, drafts or lists that it does"
    " not need."
)
"""The refusal of one more mailing, list or upload."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """How somebody wants a file to be read; None: what is found by looking."""

    encoding: str | None = None
    separator: str | None = None
    sheet: str | None = None
    has_header: bool | None = None
    number_column: int | None = None
    """The place of the column with the phone numbers, from 0."""
    with_hidden: bool = False
    """Whether rows and columns are read that the sheet hides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMailing:
    """A mailing that is to be made. Its rows come from just one of upload, list and numbers."""

    organization_id: str
    mode: Mode
    created_by: str
    name: str | None = None
    """None: the file's or the list's, or the day."""
    text: str = field(default="", repr=False)
    sender: str | None = None
    upload: str | None = None
    list_id: str | None = None
    numbers: str | None = field(default=None, repr=False)
    """Pasted lines."""
    chosen: Chosen = field(default_factory=Chosen)


@dataclass(frozen=True, slots=True)
class ListRows:
    """A list that was written as the rows of a mailing."""

    name: str
    columns: tuple[str, ...]
    number_column: int
    rows: int
