"""Reads an uploaded table in a process of its own, so that nobody waits for it and nothing in a
file can harm the service."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from risala.engine.model.errors import Invalid
from risala.engine.model.mailings import Chosen
from risala.engine.model.records.mailings import Recognised

FILE: Final = "file"
"""The path of a refusal that is about a file: the field of forms and the argument."""
Source = Literal["file", "numbers", "rows"]
"""What is read: an uploaded file, pasted lines, or rows of ours (lines ``[row, [cell, …]]``)."""


class SheetFault(Invalid):
    """A file that is no table of people; ``str()`` is one sentence that says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(FILE, code, message)


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What is to be read, and how."""

    path: Path
    """The file."""
    rows_path: Path
    """Where the checked rows are written: lines
    ``[row, [cell, …], number, fault, column, segments]``."""
    countries: tuple[str, ...]
    """Of the numbering plan, by their codes."""
    text: str | None = field(default=None, repr=False)
    """With its placeholders; None or empty: only the numbers are checked."""
    smart_encoding: bool = False
    """Whether the organization has typographic characters replaced."""
    source: Source = "file"
    chosen: Chosen = field(default_factory=Chosen)
    columns: tuple[str, ...] = ()
    """The columns' names, for rows of ours."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    recognised: Recognised
    rows: int
    """The rows that were written: all that are not blank."""


async def read(request: ReadRequest) -> ReadResult:
    """Read a file, check each row and write what was found.

    Raises:
        SheetFault: the file is no table of people; no rows are left on disk.
        Overloaded: the machine has no room for another process.
    """
    raise NotImplementedError(request)
