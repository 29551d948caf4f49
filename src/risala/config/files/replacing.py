"""Putting a file of settings or passwords in the place of another, at once."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

_ROOT: Final = 0
"""The number of root, and of root's group."""
_SECRET_MODE: Final = 0o600
_GROUP_MODE: Final = 0o640


def _unchecked(_: Path) -> None:
    """For a file of passwords, in which nothing can be checked."""


def replace_file(
    path: Path, text: str, *, group: bool, check: Callable[[Path], object] = _unchecked
) -> None:
    """Put a file in the place of another at once, with the same owner and no wider rights.

    Args:
        group: a file of root's may be read by the group of its folder: the service's own.
        check: called with the new file before it takes the place; what it raises leaves the old
            one.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            mode, owner = _rights(path, group=group)
            os.fchmod(file.fileno(), mode)
            if os.geteuid() == _ROOT:
                os.fchown(file.fileno(), *owner)
            file.flush()
            os.fsync(file.fileno())
        check(draft)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _rights(path: Path, *, group: bool) -> tuple[int, tuple[int, int]]:
    """The mode, and the owner with the group."""
    folder = path.parent.stat()
    is_shared = group and os.geteuid() == _ROOT and folder.st_gid != _ROOT
    try:
        there = path.stat()
    except FileNotFoundError:
        if is_shared:
            return _GROUP_MODE, (_ROOT, folder.st_gid)
        return _SECRET_MODE, (os.geteuid(), os.getegid())
    mode = stat.S_IMODE(there.st_mode)
    if not group:
        return mode & _SECRET_MODE, (there.st_uid, there.st_gid)
    if is_shared and mode & stat.S_IROTH:
        return _GROUP_MODE, (there.st_uid, folder.st_gid)
    # In a folder of root's alone the service can read only what everybody can.
    is_open = os.geteuid() == _ROOT and not is_shared
    return mode if is_open else mode & _GROUP_MODE, (there.st_uid, there.st_gid)
