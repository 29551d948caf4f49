"""Files that only their owner may write, or read: plugins run as the service, keys speak for it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_ROOT = 0


def write_fault(path: Path) -> str | None:
    """Why nothing is run from a file or folder that somebody else may write; None: nobody may.

    What it holds runs as this service, with all that it may read and send. Whoever may write a
    folder above it can put another in its place; where that folder is sticky, as ``/tmp`` is, only
    the owner can.
    """
    try:
        status = path.stat()
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if status.st_uid not in (_ROOT, os.geteuid()):
        return f"{path} belongs to another user: run `chown` and `chmod go-w {path}`"
    if status.st_mode & stat.S_IWOTH:
        return _open_to_all(path)
    # A link's own way counts as much as the way of what it leads to.
    for above in dict.fromkeys((*path.absolute().parents, *path.resolve().parents)):
        if above.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
            return _open_to_all(above)
    return None


def _open_to_all(path: Path) -> str:
    return f"every user of this machine may write {path}: run `chmod o-w {path}`"


def key_fault(path: Path) -> str | None:
    """What is wrong with who may read a TLS key, as a sentence; None: nothing, or nobody can
    tell."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return None
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        return f"Every user of this machine may read the TLS key {path}: run `chmod o-rwx {path}`."
    return None
