"""When the last backup was made: a small file in the data directory.

The command that makes a backup may run beside the service, which alone writes the database; so it
writes a file, which the service reads.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Final

from risala.engine.model.records.upkeep.service import BackupNote

NAME: Final = "last-backup.json"
_BYTES_MAX: Final = 4096


def write(data_dir: Path, note: BackupNote) -> None:
    """Write the note (0600), whole or not at all.

    Raises:
        OSError: the directory cannot be written.
    """
    partial = data_dir / f".{NAME}.partial"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(partial, flags, 0o600)
    try:
        os.write(descriptor, json.dumps(asdict(note)).encode())
    finally:
        os.close(descriptor)
    partial.replace(data_dir / NAME)


def read(data_dir: Path) -> BackupNote | None:
    """The note of the last backup; None: it does not exist, or cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        with open(data_dir / NAME, "rb") as content:
            values = json.loads(content.read(_BYTES_MAX))
        return BackupNote(int(values["at"]), int(values["size_bytes"]))
    return None
