"""A carrier that is a file: each segment becomes a line of JSON."""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import trio
from pydantic import BaseModel, ConfigDict, Field

from risala.plugins.contract import (
    Accepted,
    Capabilities,
    Cause,
    DriverContext,
    DriverFactory,
    Health,
    HealthState,
    NotStoredError,
    Outcome,
    Receipt,
    ReceiptState,
    Refused,
    Scope,
    Segment,
    Throttled,
    Uncertain,
    Unsent,
)
from risala.plugins.hookspecs import hookimpl

RECEIPTS_MAX: Final = 1000
"""Receipts that may wait for the engine. Every queue has an end."""
NOT_STORED_WAIT_S: Final = 0.1
LEAVE_S: Final = 2.0
"""How long a stop waits for the line that is being written."""


class FileSettings(BaseModel):
    """The table ``[carriers.file]``."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    path: Path
    reopen_s: Annotated[float, Field(gt=0, le=3600)] = 5.0
    """Wait before a file that could not be opened is tried again."""


class FileDriver:
    def __init__(self, carrier: str, settings: FileSettings) -> None:
        self.capabilities = Capabilities(
            alphanumeric_sender=True,
            receipts=True,
            inbound=False,
            query=False,
            validity=False,
            window_max=10,
        )
        self._settings = settings
        self._file: int | None = None
        self._writing = trio.Lock()
        self._put, self._take = trio.open_memory_channel[str](RECEIPTS_MAX)

    async def run(
        self,
        context: DriverContext,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        self._file = await self._open(context)
        try:
            context.health(Health(HealthState.UP, f"Writing to {self._settings.path}."))
            while True:
                await self._deliver(context, await self._take.receive())
        finally:
            file, self._file = self._file, None
            with trio.move_on_after(LEAVE_S, shield=True):
                async with self._writing:
                    os.close(file)

    async def _open(self, context: DriverContext) -> int:
        """Open the file, however often that must be tried."""
        path = self._settings.path
        while True:
            try:
                return await trio.to_thread.run_sync(open_for_append, path)
            except OSError as error:
                text = f"{path} cannot be opened: {error.strerror}."
                context.health(Health(HealthState.DOWN, text))
                await trio.sleep(self._settings.reopen_s)

    async def submit(self, segment: Segment) -> Outcome:
        async with self._writing:
            if self._file is None:
                return Unsent("NOT_OPEN", "The file is not open; nothing was written.")
            if self._put.statistics().current_buffer_used >= RECEIPTS_MAX:
                return Throttled("RECEIPTS_WAIT", "Too many receipts wait to be stored.")
            carrier_id = secrets.token_hex(8)
            line = as_line(carrier_id, segment)
            outcome = await trio.to_thread.run_sync(append, self._file, line, carrier_id)
            if isinstance(outcome, Accepted):
                self._put.send_nowait(carrier_id)
            return outcome

    async def query(self, carrier_id: str, *, sender: str) -> Receipt | None:
        return None

    async def _deliver(self, context: DriverContext, carrier_id: str) -> None:
        receipt = Receipt(carrier_id, ReceiptState.DELIVERED, raw="WRITTEN")
        while True:
            try:
                return await context.receipt(receipt)
            except NotStoredError:
                await trio.sleep(NOT_STORED_WAIT_S)


def open_for_append(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)


def as_line(carrier_id: str, segment: Segment) -> bytes:
    content = {
        "id": carrier_id,
        "from": segment.sender,
        "to": segment.recipient,
        "part": segment.number,
        "of": segment.total,
        "text": segment.text,
    }
    return json.dumps(content, ensure_ascii=False).encode() + b"\n"


def append(file: int, line: bytes, carrier_id: str) -> Outcome:
    """Write a line and have it on the disk; runs in a thread, because disks make us wait."""
    size = os.fstat(file).st_size
    try:
        written = os.write(file, line)
    except OSError as error:
        text = "The file takes no more lines."
        return Refused(Scope.NOW, name_of(error), text, Cause.CARRIER_FAULT)
    try:
        if written < len(line):
            os.ftruncate(file, size)
            text = "The file took only a part of the line."
            return Refused(Scope.NOW, "SHORT_WRITE", text, Cause.CARRIER_FAULT)
        os.fsync(file)
    except OSError as error:
        return Uncertain(name_of(error), "The line was written, but may not be on the disk.")
    return Accepted(carrier_id, raw="WRITTEN")


def name_of(error: OSError) -> str:
    return errno.errorcode.get(error.errno or 0, "EUNKNOWN")


FACTORY = DriverFactory(
    name="file",
    settings=FileSettings,
    build=FileDriver,
    summary="writes each message to a file, as a line of JSON",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
