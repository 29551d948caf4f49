"""Files of keys beside the database: written whole or not at all, for their owner alone."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from risala.engine.model.errors import StorageUnusable
from risala.engine.rules.trail.heads import SEED_BYTES


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


TRAIL_KEY_FILE: Final = "audit.key"
"""The key that signs heads of the audit trail.

Losing it ends nothing: the next head makes another one, and a line of the trail names it. Who has
it can sign a trail that they made up, so a copy of it belongs nowhere else.
"""


def load_trail_key(data_dir: Path) -> bytes:
    """The key of a data directory that signs heads of the trail; made (0600) if there is none.

    Raises:
        StorageUnusable: it cannot be read or made, or is no key.
    """
    path = data_dir / TRAIL_KEY_FILE
    try:
        key = bytes.fromhex(path.read_text(encoding="ascii"))
    except FileNotFoundError:
        return _make(path)
    except (OSError, ValueError) as error:
        raise StorageUnusable(f"{path} cannot be read: {error}.") from error
    if len(key) != SEED_BYTES:
        raise StorageUnusable(f"{path} is not a key of {SEED_BYTES} bytes in hexadecimal.")
    return key


def _make(path: Path) -> bytes:
    seed = secrets.token_bytes(SEED_BYTES)
    write_key(path, f"{seed.hex()}\n")
    return seed
