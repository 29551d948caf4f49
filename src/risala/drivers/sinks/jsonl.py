"""Every event as a line of JSON, into files that other programs follow, ship or load.

Lines are appended to ``NAME.jsonl``. Once that exceeds a size it gets the time in its name, and a
new one is begun; a limited number of old ones is kept. The lines are on the disk before the engine
is notified. After a crash the last ones may be there twice, with the same event ``id``.
The daily heads of the audit trail go to ``NAME.heads``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import trio
from pydantic import BaseModel, ConfigDict, Field

from risala.plugins.sink import SinkEvent, SinkUnavailableError

MODE: Final = 0o600
"""Only the owner can read the files: events have numbers, and texts of inbound messages."""


class JsonlSettings(BaseModel):
    """``[sinks.NAME.jsonl]``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path
    """Where the files lie; made where it is not there."""
    rotate_bytes: int = Field(default=64_000_000, ge=1000)
    """A file that has grown so large is put aside."""
    keep: int = Field(default=0, ge=0)
    """How many that were put aside are kept, the newest; 0: all of them."""


class JsonlSink:
    """An :class:`risala.plugins.sink.EventSink` over files."""

    def __init__(self, name: str, settings: JsonlSettings) -> None:
        self._name = name
        self._settings = settings
        self._path = settings.folder / f"{name}.jsonl"

    async def take(self, events: Sequence[SinkEvent]) -> None:
        text = "".join(f"{each.body}\n" for each in events).encode()
        # In a thread, because a disk may take long. Not to be abandoned at a deadline: it would
        # continue to write while the same lines come again.
        try:
            await trio.to_thread.run_sync(self._write, text, events[0].seq)
        except OSError as error:
            reason = f"{error.filename or self._path} cannot be written: {error.strerror}."
            raise SinkUnavailableError(reason) from error

    async def take_audit_head(self, head: str) -> None:
        """Append a head of the audit trail to ``NAME.heads``, which is never put aside."""
        path = self._settings.folder / f"{self._name}.heads"
        try:
            await trio.to_thread.run_sync(self._append, path, f"{head}\n".encode())
        except OSError as error:
            reason = f"{error.filename or path} cannot be written: {error.strerror}."
            raise SinkUnavailableError(reason) from error

    def _append(self, path: Path, text: bytes) -> None:
        self._settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not path.exists()
        flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        with open(os.open(path, flags, MODE), "r+b", buffering=0) as file:
            _cut_half_line(file.fileno())
            _write_all(file.fileno(), text)
            os.fsync(file.fileno())
        if is_new:
            _sync_folder(self._settings.folder)

    def _write(self, text: bytes, seq: int) -> None:
        folder = self._settings.folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._path.exists() and self._path.stat().st_size >= self._settings.rotate_bytes:
            self._rotate(seq)
        is_new = not self._path.exists()
        flags = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC
        with open(os.open(self._path, flags, MODE), "r+b", buffering=0) as file:
            _cut_half_line(file.fileno())
            _write_all(file.fileno(), text)
            os.fsync(file.fileno())
        if is_new:
            _sync_folder(folder)

    def _rotate(self, seq: int) -> None:
        """Put the file aside, under the number of the first event that is not in it: names sort by
        time, and each is unique."""
        self._path.rename(self._path.with_name(f"{self._name}-{seq:019d}.jsonl"))
        _sync_folder(self._settings.folder)
        if self._settings.keep:
            aside = sorted(self._settings.folder.glob(f"{self._name}-{'[0-9]' * 19}.jsonl"))
            for old in aside[: -self._settings.keep]:
                old.unlink()


def _cut_half_line(descriptor: int) -> None:
    """Remove the incomplete line after a crash, or from a full disk: it comes again."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    keep = end
    while keep > 0:
        start = max(0, keep - 65_536)
        found = os.pread(descriptor, keep - start, start).rfind(b"\n")
        keep = start if found < 0 else start + found + 1
        if found >= 0:
            break
    if keep < end:
        os.ftruncate(descriptor, keep)


def _write_all(descriptor: int, text: bytes) -> None:
    rest = memoryview(text)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _sync_folder(folder: Path) -> None:
    """Make the file's name durable too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
