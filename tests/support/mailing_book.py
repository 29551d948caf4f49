"""A mailing in a journal, for tests: its rows are stored, sent and settled by units of work."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import trio

from risala.engine.features.mailings.records import Mailing, MailingSource, MailingState
from risala.engine.features.mailings.row_records import NewRow, SettledRow
from risala.engine.features.mailings.stored import checking, mailings, settling
from risala.engine.features.tables.reader.rows import read_table
from risala.engine.features.tables.reader.workbook_writing import write_workbook
from risala.engine.features.tables.reading import (
    ReadRequest,
    ReadResult,
    SheetFault,
    TableProcesses,
    table_processes,
)
from risala.engine.features.tables.records import Recognised, RowFault, cells_text
from risala.engine.features.tables.rules.faults import UnreadableTable
from risala.engine.model.ids import key_of
from risala.engine.model.states import Mode

PRICE = 50


async def read_on_loop(request: ReadRequest) -> ReadResult:
    """What the child process does, without the process."""
    await trio.lowlevel.checkpoint()
    paths = {"path": str(request.path), "rows_path": str(request.rows_path)}
    try:
        found = read_table(asdict(request) | paths | {"parent": os.getppid()})
    except UnreadableTable as error:
        raise SheetFault(error.fault, str(error)) from error
    values = found["recognised"]
    lists = {name: tuple(values[name]) for name in ("sheets", "columns")}
    return ReadResult(Recognised(**(values | lists)), found["rows"])


async def write_on_loop(cells_path: Path, out_path: Path, owner: str) -> None:
    """The same for a report."""
    await trio.lowlevel.checkpoint()
    write_workbook(cells_path, out_path)


ON_LOOP = {table_processes: TableProcesses(read_on_loop, write_on_loop)}
"""For ``Seams.parts``: tables are read and written without a process."""


def number(row: int) -> str:
    return f"+2223{row:07d}"


def new_row(row: int, fault: RowFault | None = None, **fields: Any) -> NewRow:
    given = {"number": number(row), "column": None, "segments": 1, "price": PRICE, **fields}
    cells = given.pop("cells", (given["number"] or "?", f"Name {row}"))
    return NewRow(row, cells_text(cells), fault=fault, **given)


def new_mailing(mailing_id: str, **fields: Any) -> Mailing:
    """A mailing that is to be stored; its organization and time are among the fields."""
    return Mailing(
        **{
            "id": mailing_id,
            "mode": Mode.LIVE,
            "name": "School",
            "state": MailingState.CHECKING,
            "source": MailingSource.FILE,
            "text": "Hello {{name}}",
            "sender": None,
            "encoding": "utf-8",
            "separator": ";",
            "sheet": None,
            "sheets": (),
            "has_header": True,
            "columns": ("phone", "name"),
            "number_column": 0,
            "pace": None,
            "from_hour": 8,
            "to_hour": 20,
            "send_at": None,
            "created_by": "a@example.org",
            "started_at": None,
            "ended_at": None,
            "wait": None,
            "again_at": None,
            **dict.fromkeys(("rows", "ready", "bad", "left_out", "accepted", "refused"), 0),
            "segments": 0,
            "price": 0,
            "keeps_rows": True,
            **dict.fromkeys(("hidden_rows", "hidden_columns"), 0),
            "with_hidden": False,
            **fields,
        }
    )


def add_list(
    conn: sqlite3.Connection,
    list_id: str,
    numbers: Sequence[str],
    *,
    organization_id: str,
    created_at: int,
    name: str = "Parents",
) -> None:
    """A recipient list, each of whose people has a name."""
    conn.execute(
        "INSERT INTO recipient_lists (id, organization_id, name, columns, people, created_at,"
        " created_by, changed_at) VALUES (?, ?, ?, '[\"name\"]', ?, ?, 'a@example.org', ?)",
        (list_id, organization_id, name, len(numbers), created_at, created_at),
    )
    (key,) = conn.execute("SELECT key FROM recipient_lists WHERE id = ?", (list_id,)).fetchone()
    conn.executemany(
        "INSERT INTO list_people VALUES (?, ?, ?)",
        [(key, each, json.dumps([f"Name of {each}"])) for each in numbers],
    )


class MailingBook:
    """Mailings of one organization."""

    def __init__(self, book: Any, organization_id: str | None = None) -> None:
        self.book = book
        self.conn = book.conn
        self.organization_id = organization_id or book.organization()

    def add(self, *, upload: str | None = "upl_1", **fields: Any) -> Mailing:
        whose = {"organization_id": self.organization_id, "created_at": self.book.now_ms}
        new = new_mailing(self.book.id("mlg"), **{**whose, **fields})
        return self.book.unit(partial(mailings.add, new=new, upload=upload))

    def list(self, *numbers: str, **fields: Any) -> str:
        """A recipient list; its id."""
        made = self.book.id("lst")
        whose = {"organization_id": self.organization_id, "created_at": self.book.now_ms, **fields}
        self.book.unit(lambda conn: add_list(conn, made, numbers, **whose))
        return made

    def draft(self, rows: int = 3, **fields: Any) -> Mailing:
        """A draft whose rows are all ready."""
        new = self.add(**fields)
        self.store(new.id, *(new_row(row) for row in range(1, rows + 1)))
        return self.book.unit(partial(checking.finish_check, mailing_id=new.id))

    def sending(self, rows: int = 3, **fields: Any) -> Mailing:
        new = self.draft(rows, **fields)
        return self.change(new.id, state=MailingState.SENDING, started_at=self.book.now_ms)

    def store(self, mailing_id: str, *rows: NewRow) -> None:
        self.book.unit(partial(checking.store_rows, mailing_id=mailing_id, new=rows))

    def change(self, mailing_id: str, **values: Any) -> Mailing:
        return self.book.unit(partial(mailings.change, mailing_id=mailing_id, values=values))

    def key(self, mailing_id: str) -> int:
        return mailings.stored(self.conn, mailing_id).key

    def accept(self, mailing_id: str, row: int, **fields: Any) -> str:
        """Accept the message of a row, without a note of it; its id."""
        once = settling.row_key(mailing_id, row)
        given = {"idempotency_key": once, "recipient": number(row), "priority": 2, **fields}
        return self.book.accept(self.organization_id, **given)

    def settle(
        self, mailing_id: str, row: int, message_id: str | None, fault: RowFault | None = None
    ) -> Mailing:
        key = None if message_id is None else key_of(message_id)
        results = [SettledRow(row, key, fault)]
        return self.book.unit(partial(settling.settle, mailing_id=mailing_id, results=results))

    def send(self, mailing_id: str, row: int, **fields: Any) -> str:
        """Accept the message of a row, and note it; its id."""
        message_id = self.accept(mailing_id, row, **fields)
        self.settle(mailing_id, row, message_id)
        return message_id


def assert_counted(conn: Any, mailing: Mailing) -> None:
    """The counts of a mailing are those of its rows."""
    key = mailings.stored(conn, mailing.id).key
    found = dict.fromkeys(range(5), 0)
    segments = price = 0
    for state, parts, cost in conn.execute(
        "SELECT state, segments, price FROM mailing_rows WHERE mailing = ?", (key,)
    ):
        found[state] += 1
        if state in (0, 3):
            segments, price = segments + parts, price + cost
    kept = mailings.mailing(conn, mailing.id)
    counts = (kept.ready, kept.bad, kept.left_out, kept.accepted, kept.refused)
    assert counts == tuple(found.values())
    assert (kept.rows, kept.segments, kept.price) == (sum(found.values()), segments, price)
