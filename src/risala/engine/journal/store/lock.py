"""The data directory: one process at a time may write there, and its files are ours alone.

Two connections of two processes that both write can corrupt a WAL (SQLite before 3.51.3), so the
process that opens the journal holds this lock from before the opening until after the closing. The
kernel frees it when its holder dies in any way. The lock file itself is never deleted: two
processes that lock two files of the same name would both be owners.

::

    StorageUnusable            the data cannot be opened; one sentence says why
    └── DataDirectoryBusy      another process has it; ``pid`` where it is known
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from risala.engine.model.errors import DataDirectoryBusy, StorageUnusable

# SQLite's WAL needs memory shared between processes, which these file systems do not provide.
_NETWORK_FILESYSTEMS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs"})
_PID_BYTES_MAX: Final = 32


class DataLock:
    """Holds ``directory/lock`` from ``with`` (or :meth:`acquire`) to the end of the block.

    Never waits. The descriptor closes on exec; a child made by a bare fork would share the lock.

    Raises:
        DataDirectoryBusy: another process holds it.
        StorageUnusable: the directory cannot be made or written, or lies on a network.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._fd: int | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()

    @property
    def held(self) -> bool:
        return self._fd is not None

    def acquire(self) -> None:
        """Take the lock, making the directory (0700) if it is missing."""
        if self._fd is not None:
            raise RuntimeError("the lock is already held")
        path = self._directory / "lock"
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _refuse_network(self._directory)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            fd = os.open(path, flags, 0o600)
        except OSError as error:
            raise StorageUnusable(_sentence(path, error)) from error
        try:
            self._fd = _lock(fd, self._directory)
        finally:
            if self._fd is None:
                os.close(fd)

    def release(self) -> None:
        """Free the lock; does nothing when it is not held."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def _lock(fd: int, directory: Path) -> int:
    """Lock the open file and write our pid into it; returns the descriptor."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataDirectoryBusy(directory, _holder(fd)) from None
    except OSError as error:
        raise StorageUnusable(
            f"The data directory {directory} cannot be locked: {error.strerror}."
        ) from error
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        if error.errno != errno.ENOSPC:  # a full disk must not block an operator's command
            raise StorageUnusable(
                f"The data directory {directory} cannot be written: {error.strerror}."
            ) from error
    return fd


def _holder(fd: int) -> int | None:
    text = os.pread(fd, _PID_BYTES_MAX, 0).strip()
    return int(text) if text.isdigit() else None


def claim_file(path: Path) -> None:
    """Make a data file if it is missing, private to us (0600).

    SQLite gives the WAL beside a database the database's mode.

    Raises:
        StorageUnusable: no ordinary file of ours can be there.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        fd = os.open(path, flags, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise StorageUnusable(f"{path} is not an ordinary file.")
            os.fchmod(fd, 0o600)
        finally:
            os.close(fd)
    except OSError as error:
        raise StorageUnusable(_sentence(path, error)) from error


def _sentence(path: Path, error: OSError) -> str:
    match error.errno:
        case errno.ELOOP:
            return f"{path} is a symbolic link, which is not allowed."
        case errno.ENOSPC | errno.EDQUOT:
            return f"The disk that holds {path} is full."
        case errno.EEXIST | errno.ENOTDIR | errno.ENOENT:
            return f"{path.parent} is not a directory."
        case errno.EISDIR | errno.ENXIO:
            return f"{path} is not an ordinary file."
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"{path} cannot be written: {error.strerror}."
    return f"{path} cannot be used: {error.strerror}."


def _refuse_network(directory: Path) -> None:
    try:
        mountinfo = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return  # no procfs: unknown
    kind = filesystem_of(directory.resolve(), mountinfo)
    if kind in _NETWORK_FILESYSTEMS:
        raise StorageUnusable(
            f"The data directory {directory} is on a network file system ({kind}). The database "
            f"needs a local disk."
        )


def filesystem_of(path: Path, mountinfo: str) -> str | None:
    """The type of the file system that holds an absolute path, by ``/proc/self/mountinfo``'s text.

    The longest mount point that leads to the path counts, and the last of several at one place.
    """
    best, kind = -1, None
    for line in mountinfo.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if not separator or len(fields) < 5:
            continue
        # The kernel writes space, tab, newline and backslash as three octal digits.
        point = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4]))
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split(" ", 1)[0]
    return kind
