"""Files that people upload, in ``data_dir/mailings``, from their arrival to the end of retention.

An upload has a file (``<id>.file``) and its owner's name in a small one beside it
(``<id>.json``), so that a restart keeps both. What the reader makes of it gets names of the same
beginning. An upload that nobody makes a mailing of is removed after a day.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

import structlog
import trio

from risala.dataclass import dataclass
from risala.engine.actors.retrying import retry_until_committed
from risala.engine.features.tables.records import FILE_BYTES_MAX, NAME_MAX
from risala.engine.model.clock import Clock
from risala.engine.model.errors import Conflict, Invalid, NotFound, StorageFailed
from risala.engine.model.features import Task
from risala.engine.model.ids import IdSource, is_id
from risala.engine.model.records.people.organizations import STORED_FULL
from risala.engine.rules.people.names import name_in_file
from risala.engine.services import Services

log = structlog.get_logger(__name__)

T = TypeVar("T")

FOLDER: Final = "mailings"
PREFIX: Final = "upl"
WAITING_MAX: Final = 20
"""Uploads of one organization that no mailing uses yet: 400 MB at most."""
KEPT_S: Final = 86_400
"""How long an upload waits for its mailing, in seconds."""
TIDY_EVERY_S: Final = 3600.0
"""How often unneeded files are removed."""
_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Upload:
    id: str
    organization_id: str
    name: str
    """The file's name as it was uploaded."""
    at_ms: int


class Uploads:
    """See the module's text."""

    def __init__(
        self,
        data_dir: Path,
        clock: Clock,
        ids: IdSource,
        held: Callable[[], Collection[str]],
        room: Callable[[str], int],
        *,
        inline: bool = False,
    ) -> None:
        """
        Args:
            held: the uploads that mailings still need.
            room: bytes that an organization may still store, besides uploads.
            inline: write on the loop's thread; for tests under a mock clock.
        """
        self._folder = data_dir / FOLDER
        self._clock = clock
        self._ids = ids
        self.held = held
        self._room = room
        self._inline = inline
        self._limiter = trio.CapacityLimiter(1)
        self._arriving: dict[str, Upload] = {}
        self._in_use: set[str] = set()

    async def receive(self, organization_id: str, chunks: AsyncIterator[bytes], name: str) -> str:
        """Store a file as it arrives; returns the upload's id.

        Args:
            name: as the file is called; only its last part counts.

        Raises:
            Invalid: ``file_too_large``; nothing is stored.
            Conflict: too many uploads of the organization wait for a mailing, or it stores as much
                as it may.
            StorageFailed: the disk refused.
        """
        upload = Upload(self._ids.new(PREFIX), organization_id, _shown(name), self._clock.now_ms())
        self._arriving[upload.id] = upload
        try:
            await self._refuse_many(organization_id)
            await self._write(upload, chunks)
        except BaseException:
            with trio.CancelScope(shield=True):
                await self.drop(upload.id)
            raise
        finally:
            del self._arriving[upload.id]
        return upload.id

    async def keep(self, organization_id: str, content: bytes, name: str) -> str:
        """Keep a whole file as an upload, and give its id."""

        async def chunks() -> AsyncIterator[bytes]:
            yield content

        return await self.receive(organization_id, chunks(), name)

    def find(self, upload_id: str, organization_id: str) -> Upload:
        """An upload of an organization.

        Raises:
            NotFound: there is none of this id, or it is another's.
        """
        upload = _read(self._folder / f"{upload_id}.json") if is_id(upload_id, PREFIX) else None
        if upload is None or upload.organization_id != organization_id:
            raise NotFound("There is no such upload. Upload the file again.")
        return upload

    @contextmanager
    def used(self, upload_id: str, organization_id: str) -> Iterator[Upload]:
        """An upload that nobody else reads meanwhile: its readers would write over each other.

        Raises:
            NotFound: no upload has this id, or it is another organization's.
            Conflict: a mailing has it, or somebody reads it.
        """
        upload = self.find(upload_id, organization_id)
        if upload_id in self._in_use or upload_id in self.held():
            raise Conflict("This upload is used already. Upload the file again.")
        self._in_use.add(upload_id)
        try:
            yield upload
        finally:
            self._in_use.discard(upload_id)

    def path_of(self, upload_id: str, organization_id: str) -> Path:
        """The path of an organization's upload.

        Raises:
            NotFound: there is no such upload, or it is another's.
        """
        return self._folder / f"{self.find(upload_id, organization_id).id}.file"

    def beside(self, upload_id: str, kind: str) -> Path:
        """The path of another file that belongs to an upload or a mailing; it need not exist."""
        return self._folder / f"{upload_id}.{kind}"

    async def drop(self, upload_id: str) -> None:
        """Remove all files of an upload; those that the disk keeps are removed later."""
        await self.work(partial(_remove, self._folder, lambda name: name == upload_id))

    async def drop_waiting(self, upload_id: str) -> None:
        """Remove all files of an upload that neither a mailing nor a reader has."""
        if upload_id not in self._in_use and upload_id not in self.held():
            await self.drop(upload_id)

    async def tidy(self) -> None:
        """Remove what no mailing needs and is older than a day."""
        held = frozenset(self.held())
        now_ms = self._clock.now_ms()

        def is_over(name: str) -> bool:
            if name in held or name in self._arriving or name in self._in_use:
                return False
            return now_ms - _made_ms(self._folder, name) >= KEPT_S * 1000

        await self.work(partial(_remove, self._folder, is_over))

    async def keep_tidy(self) -> None:
        """Tidy at the start and every hour, until cancelled."""
        while True:
            await retry_until_committed("uploads", self.tidy)
            await trio.sleep(TIDY_EVERY_S)

    async def _refuse_many(self, organization_id: str) -> None:
        held = frozenset(self.held())
        arriving = sum(each.organization_id == organization_id for each in self._arriving.values())
        waiting, size = await self.work(partial(_owned, self._folder, organization_id, held))
        if arriving + waiting > WAITING_MAX:
            raise Conflict(
                f"{WAITING_MAX} uploaded files wait for a mailing already. Use them or try again"
                " tomorrow."
            )
        if size >= self._room(organization_id):
            raise Conflict(STORED_FULL)

    async def waiting(self, organization_id: str) -> tuple[int, int]:
        """How many uploads of an organization wait for a mailing, and their bytes.

        Raises:
            StorageFailed: the disk refused.
        """
        held = frozenset(self.held())
        return await self.work(partial(_owned, self._folder, organization_id, held))

    async def _write(self, upload: Upload, chunks: AsyncIterator[bytes]) -> None:
        path = self._folder / f"{upload.id}.file"
        file = await self.work(partial(_begin, path))
        try:
            size = 0
            async for chunk in chunks:
                size += len(chunk)
                if size > FILE_BYTES_MAX:
                    text = f"The file has more than {FILE_BYTES_MAX // _MB} MB."
                    raise Invalid("file", "file_too_large", text)
                await self.work(partial(file.write, chunk))
            await self.work(partial(_finish, file, upload))
        finally:
            with trio.CancelScope(shield=True):
                await self.work(file.close)

    async def work(self, work: Callable[[], T]) -> T:
        """Do some work on a file, on a thread.

        Raises:
            StorageFailed: the disk refused.
        """
        try:
            if self._inline:
                return work()
            return await trio.to_thread.run_sync(work, limiter=self._limiter)
        except OSError as error:
            log.warning("uploads.storage", reason=error.strerror)
            raise StorageFailed from error


def private(path: str, flags: int) -> int:
    """Opens a file that only the service may read: for ``open``."""
    return os.open(path, flags, mode=0o600)


def _shown(path: str) -> str:
    """What a file is called, which somebody else may have named."""
    return name_in_file(path.replace("\\", "/").rpartition("/")[2], NAME_MAX)


def _begin(path: Path) -> BinaryIO:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    return open(path, "wb", opener=private)


def _finish(file: BinaryIO, upload: Upload) -> None:
    """The file is whole: on disk, with its owner beside it."""
    file.flush()
    os.fsync(file.fileno())
    path = Path(file.name).with_suffix(".json")
    kept = {"organization_id": upload.organization_id, "name": upload.name, "at": upload.at_ms}
    with open(path, "w", encoding="utf-8", opener=private) as beside:
        json.dump(kept, beside, ensure_ascii=False)
        beside.flush()
        os.fsync(beside.fileno())


def _read(path: Path) -> Upload | None:
    """The owner's file; None: there is none, or a crash cut it short."""
    try:
        kept = json.loads(path.read_bytes())
        return Upload(path.stem, kept["organization_id"], kept["name"], kept["at"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _made_ms(folder: Path, name: str) -> int:
    """When an upload came; of one without an owner, when its newest file was written."""
    upload = _read(folder / f"{name}.json")
    if upload is not None:
        return upload.at_ms
    times = [each.stat().st_mtime for each in folder.glob(f"{name}.*")]
    return round(max(times, default=0) * 1000)


def _owned(folder: Path, organization_id: str, held: Collection[str]) -> tuple[int, int]:
    """How many uploads of an organization no mailing holds, and their bytes."""
    count = size = 0
    for each in folder.glob("*.json"):
        upload = None if each.stem in held else _read(each)
        if upload is not None and upload.organization_id == organization_id:
            count += 1
            with suppress(FileNotFoundError):
                size += each.with_suffix(".file").stat().st_size
    return count, size


def _remove(folder: Path, is_over: Callable[[str], bool]) -> None:
    """Remove the files of all names for which this holds."""
    if not folder.is_dir():
        return
    names = {each.name.partition(".")[0] for each in folder.iterdir()}
    for name in names:
        if is_over(name):
            # The owner's file goes last: without it nobody finds the others.
            for each in sorted(folder.glob(f"{name}.*"), key=lambda path: path.suffix == ".json"):
                each.unlink(missing_ok=True)


def uploads_of(services: Services) -> Uploads:
    """The uploads of a service."""
    stored, bytes_max = services.repositories.storage, services.settings.limits.stored_bytes
    return Uploads(
        Path(services.settings.storage.data_dir),
        services.recorder.clock,
        services.ids,
        stored.uploads,
        lambda organization_id: bytes_max - stored.limited_bytes(organization_id),
        inline=services.recorder.journal.is_on_loop,
    )


def tasks(services: Services) -> Sequence[Task]:
    return (("uploads", services.part(uploads_of).keep_tidy, True),)
