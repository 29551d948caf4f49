"""Files of keys beside the database: written whole or not at all, for their owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from risala.engine.model.errors import StorageUnusable


def write_key(path: Path, text: str) -> None:
    """Write keys atomically (0600): after a crash the file is as it was, or whole.

    Raises:
        StorageUnusable: it cannot be written; it is as it was.
    """
    draft = path.with_name(f"{path.name}.tmp")
    try:
        draft.unlink(missing_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
        with open(os.open(draft, flags, 0o600), "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StorageUnusable(f"{path} cannot be created: {error.strerror}.") from error
