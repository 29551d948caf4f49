"""Tables of people that a list grows by: what the reader makes of a file or of pasted lines."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Final, TextIO, TypeVar

import trio

from risala.dataclass import dataclass
from risala.engine.mailings.reading import ReadRequest, ReadResult, Source
from risala.engine.mailings.uploads import Uploads
from risala.engine.model.errors import StorageFailed
from risala.engine.model.mailings import NewPerson
from risala.engine.model.records.mailing_rows import cells_of
from risala.engine.model.records.mailings import Recognised, RowFault
from risala.sms.numbering.plan import NumberingPlan

PIECE: Final = 500
"""People who are stored together: some milliseconds, during which nothing else is written."""
T = TypeVar("T")
BadRow = tuple[int, RowFault]
"""A row without a number, and why it has none."""
Piece = tuple[list[NewPerson], list[BadRow]]
"""People, and the rows without a number among them."""


async def in_thread(work: Callable[[], T], *, inline: bool) -> T:
    """Do something with a file beside the loop.

    Args:
        inline: on the loop's thread; for tests under a mock clock.

    Raises:
        StorageFailed: the disk refused.
    """
    try:
        if inline:
            await trio.lowlevel.checkpoint()
            return work()
        return await trio.to_thread.run_sync(work)
    except OSError as error:
        raise StorageFailed from error


@dataclass(frozen=True, slots=True)
class ListTable:
    """What the reader made of a file."""

    rows_path: Path
    recognised: Recognised
    rows: int
    inline: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """Without that of the numbers."""
        return _without(self.recognised.columns, self.recognised.number_column)

    async def pieces(self) -> AsyncGenerator[Piece]:
        """All rows, some at a time.

        Raises:
            StorageFailed: the disk refused.
        """
        column, width = self.recognised.number_column, len(self.columns)
        file = await in_thread(lambda: self.rows_path.open(encoding="utf-8"), inline=self.inline)
        with file:
            while True:
                found = await in_thread(lambda: _piece(file, column, width), inline=self.inline)
                if found is None:
                    return
                yield found

    async def fresh(self, count_known: Callable[[list[str]], Awaitable[int]]) -> int:
        """How many of its numbers a list does not have yet.

        Args:
            count_known: how many of some numbers the list has.
        """
        numbers, known = set[str](), 0
        async with aclosing(self.pieces()) as pieces:
            async for people, _ in pieces:
                new = {number for number, _ in people} - numbers
                numbers |= new
                known += await count_known([*new])
        return len(numbers) - known


@dataclass(frozen=True, slots=True)
class TableReader:
    """Reads uploads and pasted lines, which are gone afterwards."""

    uploads: Uploads
    plan: NumberingPlan
    read_file: Callable[[ReadRequest], Awaitable[ReadResult]]
    inline: bool

    @asynccontextmanager
    async def read(
        self, organization_id: str, upload: str | None, numbers: str | None
    ) -> AsyncIterator[ListTable]:
        """The table of an upload, or else of pasted lines.

        Raises:
            NotFound: the organization has no such upload.
            Invalid: it is no table of people.
            Conflict: the upload is used already, or too many of the organization wait.
            Overloaded: the machine has no room for another process.
            StorageFailed: the disk refused.
        """
        source: Source = "file"
        if upload is None:
            source = "numbers"
            pasted = (numbers or "").encode(errors="replace")
            upload = await self.uploads.keep(organization_id, pasted, "numbers.txt")
        with self.uploads.used(upload, organization_id):
            path = self.uploads.path_of(upload, organization_id)
            rows_path = self.uploads.beside(upload, "rows")
            codes = tuple(each.code for each in self.plan.countries)
            try:
                found = await self.read_file(
                    ReadRequest(organization_id, path, rows_path, codes, source=source)
                )
                yield ListTable(rows_path, found.recognised, found.rows, self.inline)
            finally:
                with trio.CancelScope(shield=True):
                    await self.uploads.drop(upload)


def _piece(file: TextIO, column: int, width: int) -> Piece | None:
    """The next rows of the reader's file; None: there are no more."""
    people: list[NewPerson] = []
    bad: list[BadRow] = []
    lines = [*islice(file, PIECE)]
    for line in lines:
        row, cells, number, fault, *_ = json.loads(line)
        if number is None:
            bad.append((row, RowFault(fault)))
            continue
        values = [*_without(cells_of(cells), column)[:width]]
        people.append((number, values + [""] * (width - len(values))))
    return (people, bad) if lines else None


def _without(values: Sequence[str], place: int) -> tuple[str, ...]:
    return (*values[:place], *values[place + 1 :])
