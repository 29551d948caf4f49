"""The path of the control socket; for both ends of it, so that nothing heavy is imported here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

CONTROL_NAME: Final = "control.sock"
_UNIX_PATH_BYTES_MAX: Final = 100
"""The longest path that a unix socket's address takes everywhere: ``sun_path`` has 108 bytes on
Linux and 104 elsewhere."""


@contextmanager
def unix_address(path: Path) -> Iterator[str]:
    """An address to bind or to connect a unix socket at, however long ``path`` is."""
    if len(os.fsencode(path)) <= _UNIX_PATH_BYTES_MAX:
        yield str(path)
        return
    # A short path to the same file: through an open descriptor of its directory, in /proc.
    directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
