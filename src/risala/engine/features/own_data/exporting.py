"""Writes files with all data of an organization, with low priority: all together as one would.

A file is an archive of JSON Lines, written in small pieces by a thread with a separate connection.
Files of several organizations are written at the same time, a piece of each in turn: how large one
is holds no other up.

It gets its name when it is whole. After a crash it is begun again: the remains of the first try are
removed like every unneeded file.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog
import trio

from risala.engine.actors.alarm import Bell
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.own_data.records import Export, ExportedPart, ExportFault, ExportState
from risala.engine.features.own_data.retention import STORAGE_RETRY_S
from risala.engine.features.own_data.stored.exports import ExportRepository
from risala.engine.model.errors import Draining, StorageFailed
from risala.engine.services import Services

log = structlog.get_logger(__name__)

T = TypeVar("T")

AT_ONCE: Final = 16
"""Files that are written at the same time, each of another organization; with more, those with the
fewest rows begin first."""
ROWS_AT_ONCE: Final = 500
"""The rows of one piece: some ten milliseconds of the thread."""
PAUSE_FACTOR: Final = 2
PAUSE_MIN_S: Final = 0.005
"""The pause after each piece, of whichever file: none is urgent, and packing slows all else."""
NOTE_EVERY_S: Final = 1.0
"""How often the progress is stored; a page reads it every two seconds."""
LOOK_S: Final = 600.0
"""How often to check whether a file has expired."""
SPARE_BYTES: Final = 200_000_000
"""Free disk space that is left to the database."""
BYTES_MAX: Final = 4_000_000_000
"""The limit of one file: about twenty million messages; for more, use the operator's backup."""
_ROW_BYTES: Final = 200
"""The approximate size of a row in a file."""
_FOLDER: Final = "exports"
_ABOUT: Final = """\
All data that Risala keeps about your organization, as of the time of writing.

settings.json   the organization, members, keys (without their secrets), senders, webhooks, settings
*.jsonl         one object a line, in the shapes that the API tells

Times are UTC. A text or a number that is not kept any more is null, or "forgotten".
"""


class Errands:
    """Bells that wake services whose work goes on long after it was requested."""

    def __init__(self, _: Services) -> None:
        self.erasing = Bell()
        self.exporting = Bell()

    def ring(self) -> None:
        """Something is to be erased, and files that have it go."""
        self.erasing.ring()
        self.exporting.ring()


class ExportTooLarge(Exception):
    """The file has reached its limit."""


def folder(services: Services) -> Path:
    return Path(services.settings.storage.data_dir) / _FOLDER


def file_of(services: Services, export: Export) -> Path:
    return folder(services) / _file_name(export.id)


def _file_name(export_id: str) -> str:
    return f"{export_id}.zip"


def _draft_name(export_id: str) -> str:
    return f"{export_id}.part"


def disk_free(place: Path) -> int:
    """Free bytes of the disk that holds a folder."""
    return shutil.disk_usage(place).free


def _pieces(parts: Generator[ExportedPart], target: Path, now_ms: int) -> Generator[int]:
    """Writes the archive; each step is a small piece of it, and gives the number of its rows.

    Raises:
        OSError, StorageFailed: the disk refused.
        ExportTooLarge: it would be too large.
    """
    ours = partial(os.open, mode=0o600)
    with closing(parts), open(target, "wb", opener=ours) as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_entry("README.txt", now_ms), _ABOUT)
            (settings,) = next(parts).rows
            text = json.dumps(settings, ensure_ascii=False, indent=1)
            archive.writestr(_entry("settings.json", now_ms), text)
            yield 0
            for name, of_table in groupby(parts, attrgetter("name")):
                entry = _entry(f"{name}.jsonl", now_ms)
                with archive.open(entry, "w", force_zip64=True) as lines:
                    for part in of_table:
                        lines.write(_lines(part.rows))
                        if file.tell() > BYTES_MAX:
                            raise ExportTooLarge
                        yield len(part.rows)
        file.flush()
        os.fsync(file.fileno())


def _entry(name: str, now_ms: int) -> zipfile.ZipInfo:
    """A file of the archive, with the time at which it was begun (UTC), shown to its owner."""
    at = datetime.fromtimestamp(now_ms / 1000, UTC)
    entry = zipfile.ZipInfo(name, (at.year, at.month, at.day, at.hour, at.minute, at.second))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


def _lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


class Exporting:
    """The service that writes files, and removes unneeded ones."""

    def __init__(
        self, services: Services, *, inline: bool = False, free: Callable[[Path], int] = disk_free
    ) -> None:
        """
        Args:
            inline: write on the loop's thread; for tests under a mock clock.
            free: free bytes of the disk that holds a folder.
        """
        self._services = services
        self._exports = services.repositories.part(ExportRepository)
        self._wanted = services.part(Errands).exporting
        self._inline = inline
        self._free = free
        self._limiter = trio.CapacityLimiter(1)
        self._turn = trio.StrictFIFOLock()
        """Held for a piece of a file and the pause behind it."""
        self._writing: set[str] = set()
        self._items = services.set_aside.loop("exports")

    async def run(self) -> None:
        """Write the requested files, until cancelled."""
        self._writing.clear()
        async with trio.open_nursery() as writers:
            look = partial(self._pass, writers)
            while True:
                tidy = await retry_until_committed("exporting", look, again_max_s=STORAGE_RETRY_S)
                again_s = LOOK_S if tidy else STORAGE_RETRY_S
                await self._wanted.wait(trio.current_time() + again_s)

    async def _pass(self, writers: trio.Nursery) -> bool:
        """Begin the files that are requested; whether all unneeded ones are removed."""
        now_ms = self._services.recorder.clock.now_ms()
        if any(each.expires_at is not None for each in self._exports.current()):
            await self._exports.drop_expired(now_ms)
        standing = self._exports.current()
        names = {_file_name(each.id) for each in standing}
        names |= {_draft_name(each) for each in self._writing}
        fault = await self._in_thread(partial(_tidy, folder(self._services), names))
        if fault is not None:
            log.warning("exporting.untidy", reason=fault, again_in_s=STORAGE_RETRY_S)
        for each in self._next(standing):
            self._writing.add(each.id)
            writers.start_soon(self._write_one, each)
        return fault is None

    def _next(self, standing: Sequence[Export]) -> Sequence[Export]:
        """The files to begin now."""
        waiting = [
            each
            for each in self._items.free(standing, attrgetter("id"))
            if each.state is ExportState.WRITING and each.id not in self._writing
        ]
        waiting.sort(key=attrgetter("expected"))
        return waiting[: AT_ONCE - len(self._writing)]

    async def _write_one(self, export: Export) -> None:
        write = partial(self._write, export)
        try:
            with self._items.item(export.id):
                await retry_until_committed("exporting", write, again_max_s=STORAGE_RETRY_S)
        except Draining:
            pass  # the next start begins it again
        finally:
            self._writing.discard(export.id)
            self._wanted.ring()

    async def _write(self, export: Export) -> None:
        fault: ExportFault | None = None
        try:
            if self._lacks_room(export.expected):
                fault = ExportFault.NO_ROOM
            else:
                await self._write_file(export)
        except ExportTooLarge:
            fault = ExportFault.TOO_LARGE
        except (OSError, StorageFailed) as error:
            fault = ExportFault.NO_ROOM if self._lacks_room(0) else ExportFault.BROKEN
            log.warning("exporting.failed", export=export.id, reason=str(error))
        if fault is not None:
            await self._exports.fail(export.id, fault, self._services.recorder.clock.now_ms())

    def _lacks_room(self, rows: int) -> bool:
        place = Path(self._services.settings.storage.data_dir)
        return self._free(place) < SPARE_BYTES + rows * _ROW_BYTES

    async def _write_file(self, export: Export) -> None:
        clock, whole = self._services.recorder.clock, file_of(self._services, export)
        part = whole.with_name(_draft_name(export.id))
        parts = self._exports.parts(export.organization_id, ROWS_AT_ONCE)
        pieces = _pieces(parts, part, clock.now_ms())
        try:
            written = await self._write_pieces(export, pieces)
        finally:
            with trio.CancelScope(shield=True):
                await self._in_thread(pieces.close)
        if written is None:
            return
        size_bytes = await self._in_thread(partial(_rename, part, whole))
        await self._exports.finish(export.id, written, size_bytes, clock.now_ms())
        log.info("exporting.done", export=export.id, rows=written, size_bytes=size_bytes)

    async def _write_pieces(self, export: Export, pieces: Generator[int]) -> int | None:
        """Write the file; returns the number of rows; None: it is no longer needed."""
        written, noted_s = 0, trio.current_time()
        while True:
            async with self._turn:
                began_s = trio.current_time()
                rows: int | None = await self._in_thread(partial(next, pieces, None))
                if rows is None:
                    return written
                written += rows
                if self._lacks_room(0):
                    raise OSError("the disk is nearly full")
                if trio.current_time() - noted_s >= NOTE_EVERY_S:
                    noted_s = trio.current_time()
                    if not await self._exports.note(export.id, written):
                        return None
                took_s = trio.current_time() - began_s
                await trio.sleep(max(PAUSE_MIN_S, PAUSE_FACTOR * took_s))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        if self._inline:
            return work()
        return await trio.to_thread.run_sync(work, limiter=self._limiter)


def _tidy(place: Path, names: set[str]) -> str | None:
    """Remove every unneeded file, drafts included. Why the disk keeps one
    of them, or the folder is missing; None: all is done."""
    fault: str | None = None
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        files = [each for each in place.iterdir() if each.name not in names]
    except OSError as error:
        return f"{place} cannot be listed: {error.strerror}."
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            fault = f"{file} cannot be removed: {error.strerror}."
    return fault


def _rename(part: Path, whole: Path) -> int:
    part.replace(whole)
    return whole.stat().st_size
