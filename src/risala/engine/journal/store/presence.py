"""Whether the database is where it was: there at a start, and the same file while we have it open.

Looked at by ``stat`` alone. Opening the file and closing it again would drop the locks that SQLite
holds on it (POSIX locks are a process's, and any close of the file lets go of them).

Three files are one database: without its ``-wal`` commits go into the void, and whoever opens it
beside us without our ``-shm`` does not see that we are there.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from risala.engine.model.errors import StorageUnusable

MARK_PREFIX: Final = "made-"
"""The mark's name begins otherwise than the database's: who removes ``risala.db*`` leaves it."""
_OLD_SUFFIX: Final = ".made"
"""Of a mark that an older version left."""
_MARK_TEXT: Final = (
    "A database was made here. While this file lies beside it, Risala makes no new one in its\n"
    "place: a lost database must not look like an empty one. Remove this file to begin anew.\n"
)
_PARTS: Final = ("", "-wal", "-shm")

Identity = tuple[int, int]


def mark_of(path: Path) -> Path:
    """The file that knows that there was a database at ``path``."""
    return path.with_name(MARK_PREFIX + path.stem)


def _marks(path: Path) -> list[Path]:
    """The marks that are there."""
    both = (mark_of(path), path.with_name(path.name + _OLD_SUFFIX))
    return [each for each in both if each.exists()]


def missing(path: Path) -> str | None:
    """Why no new database may be made at ``path``: a sentence; None where it may, or is there.

    There was one if its mark is there, or a WAL that belongs to one.
    """
    if _size(path):
        return None
    wal = path.with_name(f"{path.name}-wal")
    state = "is empty" if path.exists() else "is gone"
    if marks := _marks(path):
        return (
            f"The database {path} {state}, and there was one: put it back, or restore a backup "
            f"(`risala restore FILE`). To begin with an empty one, remove "
            f"{' and '.join(map(str, marks))}."
        )
    if _size(wal):
        return (
            f"The database {path} {state}, but {wal} is there and belongs to one: put the "
            f"database back, or restore a backup (`risala restore FILE`). To begin with an empty "
            f"one, move {wal} away."
        )
    return None


def refuse_missing(path: Path) -> None:
    """Raises :class:`StorageUnusable` where a database was, and is no more."""
    if (reason := missing(path)) is not None:
        raise StorageUnusable(reason)


def mark(path: Path) -> None:
    """Leave word that there is a database; it stays when the database goes.

    Without it the service works as well, so that a full disk is no reason not to start.
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
    """What was there when the database was opened, to compare with later. Any thread."""

    def __init__(self, path: Path) -> None:
        """Look for the first time; the database is open by now, its WAL and shared memory too."""
        self._paths = [path.with_name(path.name + part) for part in _PARTS]
        self._first = [_identity(os.stat(each)) for each in self._paths]
        self._bytes_min = os.stat(path).st_size

    def lost(self) -> str | None:
        """What is no longer as it was: the end of "The database …"; None: all is in its place."""
        for path, first in zip(self._paths, self._first, strict=True):
            what = "" if path is self._paths[0] else f"'s {path.name} beside it"
            try:
                found = os.stat(path)
            except FileNotFoundError:
                return f"{what} was removed"
            except OSError as error:
                return f"{what} cannot be reached ({error.strerror})"
            if _identity(found) != first:
                return f"{what} was replaced by another file"
            if not what:
                if found.st_size < self._bytes_min:  # ours never shrinks
                    return " was cut short"
                self._bytes_min = found.st_size
        return None


def _identity(found: os.stat_result) -> Identity:
    return found.st_dev, found.st_ino


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
