"""Tables of people that a list grows by: what the reader makes of a file or of pasted lines."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final, TextIO, TypeVar

import trio

from risala.dataclass import dataclass
from risala.engine.features.lists.records import NewPerson
from risala.engine.features.tables.reading import ReadRequest, ReadResult, Source
from risala.engine.features.tables.records import Chosen, Recognised, RowFault, cells_of
from risala.engine.features.tables.uploads import Uploads
from risala.engine.model.errors import StorageFailed
from risala.sms.numbering.plan import NumberingPlan

PIECE: Final = 500
"""People who are stored together: some milliseconds, during which nothing else is written."""
T = TypeVar("T")
BadRow = tuple[int, RowFault, str | None]
"""A row without a number, why it has none, and the country that is not served, if it is of one."""
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
    plan: NumberingPlan
    inline: bool
    upload: str | None = None
    """The file, where it stays because some of it was left out as hidden."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns without that of the numbers."""
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
                read = partial(_piece, file, column, width, self.plan)
                piece = await in_thread(read, inline=self.inline)
                if piece is None:
                    return
                yield piece

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
    """Reads uploads and pasted lines, which are gone afterwards; but a file of which some was left
    out as hidden stays, one for an organization, so that this can be taken in."""

    uploads: Uploads
    plan: NumberingPlan
    read_file: Callable[[ReadRequest], Awaitable[ReadResult]]
    inline: bool
    kept: dict[str, str] = field(default_factory=dict)
    """The upload that stays, by organization."""

    @asynccontextmanager
    async def read(
        self, organization_id: str, upload: str | None, numbers: str | None, chosen: Chosen
    ) -> AsyncIterator[ListTable]:
        """The table of an upload, or else of pasted lines.

        Args:
            chosen: the sheet of a workbook, and whether what it hides is read.

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
            request = ReadRequest(
                organization_id, path, rows_path, codes, source=source, chosen=chosen
            )
            stays = None
            try:
                answer = await self.read_file(request)
                left_out = upload if _left_out(answer.recognised) else None
                read = answer.recognised, answer.rows
                yield ListTable(rows_path, *read, self.plan, self.inline, left_out)
                stays = left_out
            finally:
                with trio.CancelScope(shield=True):
                    await self._end(organization_id, upload, stays)

    async def _end(self, organization_id: str, upload: str, stays: str | None) -> None:
        """Remove what is no longer needed: an upload that was read, or else its rows and the
        upload that stayed before it."""
        if stays is None:
            await self.uploads.drop(upload)
            return
        await self.uploads.work(self.uploads.beside(upload, "rows").unlink)
        before, self.kept[organization_id] = self.kept.get(organization_id), stays
        if before is not None and before != stays:
            await self.uploads.drop_waiting(before)


def _left_out(recognised: Recognised) -> bool:
    return not recognised.with_hidden and bool(recognised.hidden_rows or recognised.hidden_columns)


def _piece(file: TextIO, column: int, width: int, plan: NumberingPlan) -> Piece | None:
    """The next rows of the reader's file; None: there are no more."""
    people: list[NewPerson] = []
    bad: list[BadRow] = []
    lines = [*islice(file, PIECE)]
    for line in lines:
        row, cells, number, fault, *_ = json.loads(line)
        if number is None:
            is_abroad = fault == RowFault.NOT_SERVED
            typed = islice(cells_of(cells), column, column + 1)
            bad.append((row, RowFault(fault), plan.abroad(*typed) if is_abroad else None))
            continue
        values = [*_without(cells_of(cells), column)[:width]]
        people.append((number, values + [""] * (width - len(values))))
    return (people, bad) if lines else None


def _without(values: Sequence[str], place: int) -> tuple[str, ...]:
    return (*values[:place], *values[place + 1 :])
