"""Whether the database is in its place: present at a start, and the same file while it is open.

Checked with ``stat`` alone. Opening the file and closing it again would drop the locks that SQLite
holds on it (POSIX locks belong to the process, and any close of the file releases them).

Three files are one database: without its ``-wal`` commits are lost, and another process that opens
it without our ``-shm`` does not see us.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from risala.engine.model.errors import StorageUnusable

MARK_PREFIX: Final = "made-"
"""The mark's name has another prefix than the database: removing ``risala.db*`` leaves it."""
_MARK_TEXT: Final = (
    "A database was made here. While this file lies beside it, Risala makes no new one in its\n"
    "place: a lost database must not look like an empty one. Remove this file to begin anew.\n"
)
_PARTS: Final = ("", "-wal", "-shm")

Identity = tuple[int, int]


def mark_of(path: Path) -> Path:
    """The file that marks that a database existed at ``path``."""
    return path.with_name(MARK_PREFIX + path.stem)


def missing(path: Path) -> str | None:
    """Why no new database may be made at ``path``: a sentence; None if it may, or exists.

    One existed if its mark exists, or a WAL that belongs to one.
    """
    if _size(path):
        return None
    wal = path.with_name(f"{path.name}-wal")
    state = "is empty" if path.exists() else "is gone"
    if (mark := mark_of(path)).exists():
        return (
            f"The database {path} {state}, and there was one: put it back, or restore a backup "
            f"(`risala restore FILE`). To begin with an empty one, remove {mark}."
        )
    if _size(wal):
        return (
            f"The database {path} {state}, but {wal} is there and belongs to one: put the "
            f"database back, or restore a backup (`risala restore FILE`). To begin with an empty "
            f"one, move {wal} away."
        )
    return None


def refuse_missing(path: Path) -> None:
    """Raises :class:`StorageUnusable` if a database existed, and is gone."""
    if (reason := missing(path)) is not None:
        raise StorageUnusable(reason)


def mark(path: Path) -> None:
    """Mark that a database exists; the mark stays when the database is removed.

    The service works without it too, so a full disk is no reason not to start.
    """
    file = mark_of(path)
    if file.exists():
        return
    with suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(file, flags, 0o600)
        try:
            os.write(descriptor, _MARK_TEXT.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Presence:
    """The state when the database was opened, to compare with later. Any thread."""

    def __init__(self, path: Path) -> None:
        """Read the first state; the database is already open, with its WAL and shared memory."""
        self._paths = [path.with_name(path.name + part) for part in _PARTS]
        self._first = [_identity(os.stat(each)) for each in self._paths]
        self._bytes_min = os.stat(path).st_size

    def lost(self) -> str | None:
        """What has changed: the end of "The database …"; None: all is in its place."""
        for path, first in zip(self._paths, self._first, strict=True):
            what = "" if path is self._paths[0] else f"'s {path.name} beside it"
            try:
                status = os.stat(path)
            except FileNotFoundError:
                return f"{what} was removed"
            except OSError as error:
                return f"{what} cannot be reached ({error.strerror})"
            if _identity(status) != first:
                return f"{what} was replaced by another file"
            if not what:
                if status.st_size < self._bytes_min:  # ours never shrinks
                    return " was cut short"
                self._bytes_min = status.st_size
        return None


def _identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
