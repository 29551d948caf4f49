"""Recipient lists: made, grown by files, lines and hand, and read as the rows of a mailing.

A file is read by a process of its own, and what that found goes into the table in pieces. A growth
that is cut off leaves the pieces that were stored: the same file again completes the list, since a
number that is there already only gets its values once more.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Final

from risala.engine.features.lists.records import (
    FULL,
    Grown,
    ListGrowth,
    NewPerson,
    RecipientList,
)
from risala.engine.features.lists.stored import RecipientListRepository
from risala.engine.features.lists.tables import PIECE, BadRow, ListTable, TableReader, in_thread
from risala.engine.features.tables.reading import SheetFault, table_processes
from risala.engine.features.tables.records import ROWS_MAX, Chosen, ListRows
from risala.engine.features.tables.rules.faults import SENTENCES as TABLE_SENTENCES
from risala.engine.features.tables.rules.faults import TableFault
from risala.engine.features.tables.rules.rendering import folded
from risala.engine.features.tables.uploads import private, uploads_of
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.services import Services
from risala.sms.numbering.plan import NumberingPlan
from risala.sms.numbering.written import SENTENCES

PREFIX: Final = "lst"
BAD_ROWS_MAX: Final = 20
"""Rows without a number that an answer names: more are not mended one by one."""
NUMBER_NAMES: Final = ("number", "phone", "phone number", "mobile")
"""How the column of the numbers is called where a list becomes the rows of a mailing: the first
name that no column of the list has."""
_AS_SHOWN: Final = Chosen()
"""The first sheet with people, as it shows them."""
Begin = Callable[[tuple[str, ...], Sequence[NewPerson], int], Awaitable[Grown]]
"""Stores a file's columns with its first people; the number is that of its rows."""


class ListGrowing:
    """Makes lists and adds people to them."""

    def __init__(self, services: Services) -> None:
        uploads, journal = services.part(uploads_of), services.recorder.journal
        self._accounts = services.accounts
        self._stored = services.repositories.part(RecipientListRepository)
        plan, inline = services.settings.plan, journal.is_on_loop
        self._reader = TableReader(uploads, plan, services.part(table_processes).read, inline)
        self._clock = services.recorder.clock
        self._ids = services.ids
        self._bytes_max = services.settings.limits.stored_bytes

    async def create(
        self,
        organization_id: str,
        name: str,
        upload: str | None,
        numbers: str | None,
        *,
        who: str,
        chosen: Chosen = _AS_SHOWN,
        by: AuditEntry | None = None,
    ) -> ListGrowth:
        """Make a list, from a file or from pasted lines, or without people.

        Args:
            upload: a file that was uploaded; once it is read, it is gone.
            numbers: pasted lines.
            chosen: the sheet of a workbook, and whether what it hides is read.

        Raises:
            NotFound: no such organization, or no such upload.
            Invalid: the file or the lines are no table of people, or have no number; or the
                organization has a list of this name.
            Conflict: the organization has too many lists.
            Overloaded: the machine has no room for another process.
        """
        self._accounts.organization(organization_id)
        self._stored.refuse_another(organization_id, name)  # before a long file is read
        now_ms = self._clock.now_ms()
        new = RecipientList(
            id=self._ids.new(PREFIX),
            organization_id=organization_id,
            name=name,
            columns=(),
            people=0,
            created_at=now_ms,
            created_by=who,
            changed_at=now_ms,
        )

        async def begin(columns: tuple[str, ...], people: Sequence[NewPerson], rows: int) -> Grown:
            entry = None if by is None else replace(by, subject=new.id, details={"rows": rows})
            return await self._stored.create(entry, new, columns, people, self._bytes_max)

        if upload is None and numbers is None:
            return ListGrowth((await begin((), (), 0)).list, 0, 0, 0, ())
        async with self._reader.read(organization_id, upload, numbers, chosen) as table:
            return await self._grow(table, new, begin)

    async def add(
        self,
        list_id: str,
        upload: str | None,
        numbers: str | None,
        *,
        chosen: Chosen = _AS_SHOWN,
        by: AuditEntry | None = None,
    ) -> ListGrowth:
        """Add people from a file or from pasted lines. Columns that the list does not have yet are
        added to it.

        Args:
            chosen: the sheet of a workbook, and whether what it hides is read.

        Raises:
            NotFound: no such list, or no such upload.
            Invalid: the file or the lines are no table of people, or have no number.
            Conflict: the list would have too many people or columns.
            Overloaded: the machine has no room for another process.
        """
        recipient_list = self._stored.recipient_list(list_id)

        async def begin(columns: tuple[str, ...], people: Sequence[NewPerson], rows: int) -> Grown:
            entry = None if by is None else replace(by, details={"rows": rows})
            now_ms = self._clock.now_ms()
            return await self._stored.grow(entry, list_id, columns, people, now_ms, self._bytes_max)

        organization_id = recipient_list.organization_id
        async with self._reader.read(organization_id, upload, numbers, chosen) as table:
            return await self._grow(table, recipient_list, begin)

    async def add_person(
        self,
        list_id: str,
        number: str,
        cells: Mapping[str, str],
        *,
        by: AuditEntry | None = None,
    ) -> ListGrowth:
        """Add one number, or change its values.

        Args:
            cells: by the names of columns; those that the list does not have yet are added.

        Raises:
            NotFound: no such list.
            Conflict: the list would have too many people or columns.
        """
        people, now_ms = [(number, [*cells.values()])], self._clock.now_ms()
        entry = None if by is None else replace(by, details={"rows": 1})
        grown = await self._stored.grow(entry, list_id, [*cells], people, now_ms, self._bytes_max)
        return ListGrowth(grown.list, grown.added, grown.changed, 0, ())

    async def _grow(self, table: ListTable, into: RecipientList, begin: Begin) -> ListGrowth:
        if into.people + table.rows > ROWS_MAX:
            fresh = await table.fresh(partial(self._stored.count_known, into.id))
            if into.people + fresh > ROWS_MAX:
                raise Conflict(FULL)
        added = changed = 0
        bad_rows: list[BadRow] = []
        grown: Grown | None = None
        async with aclosing(table.pieces()) as pieces:
            async for people, bad in pieces:
                bad_rows += bad
                if not people:
                    continue
                if grown is None:
                    grown = await begin(table.columns, people, table.rows)
                else:
                    grown = await self._stored.put_people(
                        grown.list.id, grown.places, people, self._bytes_max
                    )
                added, changed = added + grown.added, changed + grown.changed
        if grown is None:
            raise _no_numbers(bad_rows, table.plan)
        named = bad_rows[:BAD_ROWS_MAX]
        read = table.recognised
        return ListGrowth(
            grown.list,
            added,
            changed,
            len(bad_rows),
            tuple(row for row, _, _ in named),
            tuple(fault for _, fault, _ in named),
            tuple(country for _, _, country in named),
            sheet=read.sheet,
            hidden_rows=read.hidden_rows,
            hidden_columns=read.hidden_columns,
            with_hidden=read.with_hidden,
            upload=table.upload,
        )


async def write_rows(
    stored: RecipientListRepository,
    list_id: str,
    organization_id: str,
    path: Path,
    *,
    inline: bool = False,
) -> ListRows:
    """Write a list as the rows of a mailing, as the reader of tables does: lines
    ``[row, [number, value, …]]``.

    Args:
        inline: on the loop's thread; for tests under a mock clock.

    Raises:
        NotFound: no such list, or it is another organization's.
        Conflict: nobody is on it.
        StorageFailed: the disk refused.
    """
    recipient_list = stored.recipient_list(list_id)
    if recipient_list.organization_id != organization_id:
        raise NotFound(f"There is no list {list_id}.")
    if not recipient_list.people:
        raise Conflict("There is nobody on this list yet.")
    rows, after = 0, ""
    await in_thread(partial(_write, path, "w", ""), inline=inline)
    while people := await stored.people_after(list_id, after, PIECE):
        lines = _lines(rows + 1, people)
        await in_thread(partial(_write, path, "a", lines), inline=inline)
        rows, after = rows + len(people), people[-1][0]
    return ListRows(
        recipient_list.name,
        (_number_name(recipient_list.columns), *recipient_list.columns),
        0,
        rows,
    )


def _no_numbers(bad_rows: Sequence[BadRow], plan: NumberingPlan) -> SheetFault:
    """A table without a single number; if it nearly has one, what is wrong with that."""
    for row, fault, country in bad_rows:
        if country is not None:
            return SheetFault(fault, f"Row {row}: {plan.not_served(country)}")
        known = next((each for each in SENTENCES if each.value == fault.value), None)
        if known is not None:
            return SheetFault(known, f"Row {row}: {SENTENCES[known]}")
    return SheetFault(TableFault.NO_NUMBERS, TABLE_SENTENCES[TableFault.NO_NUMBERS])


def _number_name(columns: Collection[str]) -> str:
    known = {folded(each) for each in columns}
    names = chain(NUMBER_NAMES, (f"number {each}" for each in count(2)))
    return next(each for each in names if folded(each) not in known)


def _write(path: Path, mode: str, lines: str) -> None:
    with open(path, mode, encoding="utf-8", opener=private) as file:
        file.write(lines)


def _lines(first: int, people: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """People as lines of a rows file."""
    rows = (
        json.dumps([row, [number, *cells]], ensure_ascii=False)
        for row, (number, cells) in enumerate(people, first)
    )
    return "".join(f"{each}\n" for each in rows)
