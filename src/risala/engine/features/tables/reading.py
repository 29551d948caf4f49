"""Reads an uploaded table in a process of its own, so that nobody waits for it and nothing in a
file can harm the service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Final, Literal

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.features.tables.fair_places import FairPlaces
from risala.engine.features.tables.records import Chosen, Recognised
from risala.engine.features.tables.rules.faults import TableFault, UnreadableTable
from risala.engine.model.errors import Invalid, Overloaded, StorageFailed
from risala.engine.services import Services

log = structlog.get_logger(__name__)

FILE: Final = "file"
"""The path of a refusal that is about a file: the field of forms and the argument."""
CHILD: Final = "risala.engine.features.tables.reader.process"
"""The module that reads. It is started by its name and never imported here."""
READ_MAX_S: Final = 120
"""Twice the processor's time that the child may use: beside a busy service it gets half of it."""
WRITE_MAX_S: Final = 600
"""The processor's time that a child may use to write a report as a workbook."""
CHILDREN_MAX: Final = 2
"""Children that run at once, each with up to 256 MiB; others wait for their turn."""
CHILDREN_EACH_MAX: Final = 1
"""Children of one organization at once: its files may each take a minute of the processor, and
another one's must not wait for them."""

_turns: Final[trio.lowlevel.RunVar[FairPlaces]] = trio.lowlevel.RunVar("mailing children")

Source = Literal["file", "numbers", "rows"]
"""What is read: an uploaded file, pasted lines, or rows of ours (lines ``[row, [cell, …]]``)."""


class SheetFault(Invalid):
    """A file that is no table of people; ``str()`` is one sentence that says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(FILE, code, message)


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What is to be read, and how."""

    owner: str
    """The organization's id: turns go by it."""
    path: Path
    """The file."""
    rows_path: Path
    """The path where the checked rows are written: lines ``[row, cells, number, fault, column,
    segments]``, with the cells as they are stored."""
    countries: tuple[str, ...]
    """Countries of the numbering plan, by their codes."""
    text: str | None = field(default=None, repr=False)
    """The text with its placeholders; None or empty: only the numbers are checked."""
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


Read = Callable[[ReadRequest], Awaitable[ReadResult]]
WriteWorkbook = Callable[[Path, Path, str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TableProcesses:
    """What reads and writes tables in processes of their own; in a test, without one."""

    read: Read
    """Reads as :func:`read` does."""
    write_workbook: WriteWorkbook
    """Writes as :func:`write_workbook` does."""


def table_processes(_: Services) -> TableProcesses:
    """The processes of a service that read and write tables."""
    return TableProcesses(read, write_workbook)


async def read(request: ReadRequest) -> ReadResult:
    """Read a file, check each row and write what was found.

    Raises:
        SheetFault: the file is no table of people; no rows are left on disk.
        Overloaded: the machine has no room for another process.
        StorageFailed: the disk is full or broken.
    """
    arguments = asdict(request)
    owner = arguments.pop("owner")
    arguments |= {"path": str(request.path), "rows_path": str(request.rows_path)}
    part = part_of(request.rows_path)
    try:
        arguments |= {"do": "read", "parent": os.getpid()}
        answer = await _child(arguments, owner, READ_MAX_S)
        if not request.rows_path.exists():
            raise StorageFailed
    except BaseException:
        part.unlink(missing_ok=True)
        request.rows_path.unlink(missing_ok=True)
        raise
    return ReadResult(_recognised(answer["recognised"]), answer["rows"])


async def write_workbook(cells_path: Path, out_path: Path, owner: str) -> None:
    """Write a report as a workbook (XLSX), whose cells are all texts.

    Args:
        cells_path: lines of JSON, each the list of a row's texts; the first has the headings.
        out_path: the workbook, which appears when it is whole.
        owner: the organization's id: turns go by it.

    Raises:
        Overloaded: the machine has no room for another process.
        StorageFailed: the disk is full or broken.
    """
    part = part_of(out_path)
    arguments = {"do": "write", "cells_path": str(cells_path), "out_path": str(part)}
    try:
        await _child(arguments, owner, WRITE_MAX_S)
        part.rename(out_path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def part_of(path: Path) -> Path:
    """What a file is called as long as it is being written."""
    return path.with_name(f"{path.name}.part")


async def _child(arguments: Mapping[str, Any], owner: str, most_s: float) -> dict[str, Any]:
    """What the child answers.

    Raises:
        SheetFault, Overloaded, StorageFailed: as :func:`read` says.
    """
    async with _pool().turn(owner):
        with trio.move_on_after(most_s):
            done = await _run(json.dumps(arguments).encode())
            return _answer(done)
    raise _too_big()


async def _run(arguments: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return await trio.run_process(
            [sys.executable, "-m", CHILD],
            stdin=arguments,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            deliver_cancel=_kill,
            env=_environment(),
            # A terminal's Ctrl-C is for the service alone.
            start_new_session=True,
        )
    except OSError as error:
        log.warning("mailing.reader_not_started", error=str(error))
        raise Overloaded from error


async def _kill(process: trio.Process) -> None:
    process.kill()


def _environment() -> dict[str, str]:
    """The child's: what it needs to find the same code, and none of the service's secrets."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONSAFEPATH": "1",
        "PYTHONUTF8": "1",
    }


def _pool() -> FairPlaces:
    try:
        return _turns.get()
    except LookupError:
        _turns.set(places := FairPlaces(CHILDREN_MAX, CHILDREN_EACH_MAX))
        return places


def _answer(done: subprocess.CompletedProcess[bytes]) -> dict[str, Any]:
    if done.returncode != 0:
        # It was killed by a bound of its own, or by the machine; or it is broken.
        tail = done.stderr[-2000:].decode(errors="replace")
        log.warning("mailing.reader_ended", code=done.returncode, said=tail)
        raise _too_big()
    answer: dict[str, Any] = json.loads(done.stdout)
    if "fault" in answer:
        raise SheetFault(answer["fault"], answer["sentence"])
    if "storage" in answer:
        log.error("mailing.reader_storage", error=answer["storage"])
        raise StorageFailed
    return answer


def _too_big() -> SheetFault:
    return SheetFault(TableFault.TOO_BIG, str(UnreadableTable(TableFault.TOO_BIG)))


def _recognised(values: Mapping[str, Any]) -> Recognised:
    lists = {name: tuple(values[name]) for name in ("sheets", "columns")}
    return Recognised(**(dict(values) | lists))
