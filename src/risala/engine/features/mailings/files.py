"""The tables of mailings as files: what is read, and where the reader writes the rows."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.engine.features.mailings.records import (
    Mailing,
    MailingRow,
    MailingSource,
    NewMailing,
    RowState,
)
from risala.engine.features.mailings.row_records import StoredMailing
from risala.engine.features.mailings.sources import MailingSources
from risala.engine.features.tables.reading import ReadRequest, ReadResult, Source
from risala.engine.features.tables.records import Chosen
from risala.engine.features.tables.uploads import Upload, private
from risala.engine.model.errors import Conflict, NotFound

ROWS: Final = "rows"
"""The kind of file that the reader writes."""
DUMP: Final = "dump"
"""The kind of file with the rows of a draft, as they are in the journal."""
PIECE_ROWS: Final = 200
"""Rows that are read from the journal together: a few milliseconds of the loop."""
_SOURCES: Final[dict[MailingSource, Source]] = {
    MailingSource.FILE: "file",
    MailingSource.NUMBERS: "numbers",
    MailingSource.LIST: "rows",
    MailingSource.AGAIN: "rows",
}

_GONE: Final = "The file of this mailing is no longer kept."


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table that was read whole, and whose rows are not stored yet."""

    upload: str
    name: str
    source: MailingSource
    result: ReadResult


class TableFiles:
    """See the module's text."""

    def __init__(self, sources: MailingSources) -> None:
        self._sources = sources
        self._uploads = sources.uploads

    # -- new tables

    async def read_new(self, new: NewMailing, upload: Upload | None) -> ReadTable:
        """Read what is given for a new mailing.

        Args:
            upload: the file that was uploaded for it.

        Raises:
            NotFound: there is no such list.
            Conflict: the list is empty.
            Invalid: it is no table of people; nothing of it is left.
        """
        if upload is not None:
            return await self._read(new, upload.id, upload.name, MailingSource.FILE, new.chosen)
        if new.list_id is not None:
            return await self._read_list(new, new.list_id)
        pasted = (new.numbers or "").encode("utf-8", "replace")
        kept = await self._uploads.keep(new.organization_id, pasted, "")
        return await self._read(new, kept, "", MailingSource.NUMBERS, new.chosen)

    async def read_columns(self, new: NewMailing, upload: Upload) -> ReadResult:
        """What a file has, which stays for a mailing to be made of it. Raises ``Invalid``: it is no
        table of people; nothing of it is left."""
        table = await self.read_new(new, upload)
        await self._uploads.work(partial(_unlink, [self._uploads.beside(upload.id, ROWS)]))
        return table.result

    async def read_rows(
        self, new: NewMailing, former: Mailing, rows: AsyncIterator[list[MailingRow]]
    ) -> ReadTable:
        """Read rows of another mailing as a table of a new one.

        Raises:
            Conflict: there are none.
        """
        upload = await self._uploads.keep(new.organization_id, b"", "")
        try:
            count = await self._write(self._uploads.path_of(upload, new.organization_id), rows)
            if not count:
                raise Conflict("No message of this mailing has failed.")
        except BaseException:
            await self.drop(upload)
            raise
        chosen = Chosen(number_column=former.number_column)
        return await self._read(
            new, upload, former.name, MailingSource.AGAIN, chosen, former.columns
        )

    async def _read_list(self, new: NewMailing, list_id: str) -> ReadTable:
        upload = await self._uploads.keep(new.organization_id, b"", "")
        try:
            path = self._uploads.path_of(upload, new.organization_id)
            written = await self._sources.write_list(list_id, new.organization_id, path)
        except BaseException:
            await self.drop(upload)
            raise
        chosen = Chosen(number_column=written.number_column)
        return await self._read(
            new, upload, written.name, MailingSource.LIST, chosen, written.columns
        )

    async def _read(
        self,
        new: NewMailing,
        upload: str,
        name: str,
        source: MailingSource,
        chosen: Chosen,
        columns: tuple[str, ...] = (),
    ) -> ReadTable:
        organization = self._sources.accounts.organization(new.organization_id)
        request = ReadRequest(
            owner=new.organization_id,
            path=self._uploads.path_of(upload, new.organization_id),
            rows_path=self._uploads.beside(upload, ROWS),
            countries=self._countries,
            text=new.text,
            smart_encoding=organization.smart_encoding,
            source=_SOURCES[source],
            chosen=chosen,
            columns=columns,
        )
        try:
            result = await self._sources.tables.read(request)
            await self._uploads.work(partial(_sync, request.rows_path))
        except BaseException:
            await self.drop(upload)
            raise
        return ReadTable(upload, name, source, result)

    # -- tables of mailings

    def rows_path(self, stored: StoredMailing) -> Path | None:
        """The path where the reader writes the rows of a mailing; None: the mailing has no
        files."""
        return None if stored.upload is None else self._uploads.beside(stored.upload, ROWS)

    async def read_again(self, stored: StoredMailing, chosen: Chosen) -> ReadResult:
        """Read the file of a draft in another way.

        Raises:
            NotFound: its file is no longer there.
            Conflict: it has none.
            Invalid: so it is no table of people.
        """
        mailing = stored.mailing
        if mailing.source not in (MailingSource.FILE, MailingSource.NUMBERS):
            raise Conflict("This mailing was not made of a file.")
        return await self._again(stored, mailing.text, _SOURCES[mailing.source], chosen)

    async def read_text(self, stored: StoredMailing, text: str) -> str:
        """Check the rows of a draft, as they are in the journal, with another text; returns the
        upload whose files have them.

        Raises:
            NotFound: its files are no longer there.
            Invalid: they cannot be read.
        """
        mailing = stored.mailing
        if stored.upload is None:  # its file had a number that was erased: the rows are there
            empty = await self._uploads.keep(mailing.organization_id, b"", mailing.name)
            stored = replace(stored, upload=empty)
        upload = _upload_of(stored)
        await self._write(self._uploads.beside(upload, DUMP), self._rows_to_check(stored.key))
        await self._again(stored, text, "rows", _as_read(mailing), kind=DUMP)
        return upload

    async def read_stored(self, stored: StoredMailing) -> Path:
        """Make the rows of a mailing that is being checked once more: a crash took them.

        Raises:
            NotFound: its files are no longer there.
            Invalid: they cannot be read.
            Overloaded: the machine has no room for the reader.
        """
        mailing = stored.mailing
        if self._sources.mailings.rows_after(stored.key, stored.checked, 1):
            await self.read_text(stored, mailing.text)  # their text was being changed
        else:
            source = _SOURCES[mailing.source]
            await self._again(stored, mailing.text, source, _as_read(mailing))
        return self._uploads.beside(_upload_of(stored), ROWS)

    async def drop_rows(self, stored: StoredMailing) -> None:
        """Remove what the reader wrote: it is stored."""
        if stored.upload is not None:
            files = [self._uploads.beside(stored.upload, kind) for kind in (ROWS, DUMP)]
            await self._uploads.work(partial(_unlink, files))

    async def _again(
        self, stored: StoredMailing, text: str, source: Source, chosen: Chosen, kind: str = "file"
    ) -> ReadResult:
        upload, mailing = _upload_of(stored), stored.mailing
        path = self._uploads.beside(upload, kind)
        if not await self._uploads.work(path.exists):
            raise NotFound(_GONE)
        organization = self._sources.accounts.organization(mailing.organization_id)
        request = ReadRequest(
            owner=mailing.organization_id,
            path=path,
            rows_path=self._uploads.beside(upload, ROWS),
            countries=self._countries,
            text=text,
            smart_encoding=organization.smart_encoding,
            source=source,
            chosen=chosen,
            columns=mailing.columns if source == "rows" else (),
        )
        result = await self._sources.tables.read(request)
        await self._uploads.work(partial(_sync, request.rows_path))
        return result

    async def _rows_to_check(self, key: int) -> AsyncIterator[list[MailingRow]]:
        """All rows but those that were left out."""
        after: int = 0
        while rows := self._sources.mailings.rows_after(key, after, PIECE_ROWS):
            yield [each for each in rows if each.state is not RowState.LEFT_OUT]
            after = rows[-1].row

    async def _write(self, path: Path, pieces: AsyncIterator[list[MailingRow]]) -> int:
        """Write rows as a table of ours; returns how many there were."""
        count = 0
        await self._uploads.work(partial(_put, path, (), "wb"))
        async for piece in pieces:
            await trio.lowlevel.checkpoint()
            await self._uploads.work(partial(_put, path, piece, "ab"))
            count += len(piece)
        return count

    @property
    def _countries(self) -> tuple[str, ...]:
        return tuple(each.code for each in self._sources.settings.plan.countries)

    async def size(self, upload: str | None) -> int:
        """Bytes of an upload and of the rows that the reader made of it; of none, 0."""
        if upload is None:
            return 0
        paths = [self._uploads.beside(upload, kind) for kind in ("file", ROWS)]
        return await self._uploads.work(lambda: sum(map(_size, paths)))

    async def drop(self, upload: str) -> None:
        """Remove the files of an upload."""
        with trio.CancelScope(shield=True):
            await self._uploads.drop(upload)


def _upload_of(stored: StoredMailing) -> str:
    if stored.upload is None:
        raise NotFound(_GONE)
    return stored.upload


def _as_read(mailing: Mailing) -> Chosen:
    """How a mailing's file was read."""
    is_workbook = mailing.encoding == "xlsx"
    return Chosen(
        encoding=None if is_workbook else mailing.encoding,
        separator=mailing.separator,
        sheet=mailing.sheet,
        has_header=mailing.has_header,
        number_column=mailing.number_column,
        with_hidden=mailing.with_hidden,
    )


def _put(path: Path, rows: list[MailingRow] | tuple[()], mode: str) -> None:
    text = "".join(f"{json.dumps([each.row, each.cells], ensure_ascii=False)}\n" for each in rows)
    with open(path, mode, opener=private) as file:
        file.write(text.encode("utf-8", "replace"))


def _sync(path: Path) -> None:
    """The rows are on disk before the journal says that they are to be stored."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def _size(path: Path) -> int:
    """Bytes of a file; 0: there is none."""
    return path.stat().st_size if path.exists() else 0


def _unlink(files: list[Path]) -> None:
    for each in files:
        each.unlink(missing_ok=True)
