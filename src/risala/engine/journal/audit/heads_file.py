"""The signed heads of the audit trail that went out, one line each, beside the database."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from risala.engine.model.errors import StorageUnusable
from risala.engine.rules.trail.heads import Head, NoHead, heads_of

HEADS_FILE: Final = "audit.heads"
TAIL_BYTES: Final = 4096
"""The last line is within these: a head has some 300."""


def read(directory: Path) -> list[Head]:
    """All heads in a directory, the oldest first; empty if it has none.

    Raises:
        StorageUnusable: the file cannot be read, or has lines that are no heads.
    """
    path = directory / HEADS_FILE
    try:
        return list(heads_of(path.read_text(encoding="utf-8").splitlines()))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, NoHead) as error:
        raise StorageUnusable(f"{path} cannot be read: {error}") from error


def last(directory: Path) -> Head | None:
    """The newest head in a directory; None: it has no heads, or its last line cannot be read."""
    try:
        with open(directory / HEADS_FILE, "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
        return next(heads_of(lines[-1:]), None)
    except (OSError, NoHead):
        return None


def add_missing(directory: Path, heads: Iterable[Head]) -> None:
    """Append the heads that are newer than those in the directory.

    Raises:
        OSError: the directory cannot be written.
    """
    there = last(directory)
    for head in heads:
        if there is None or head.end.seq > there.end.seq:
            add(directory, head)


def add(directory: Path, head: Head) -> None:
    """Append a head.

    Raises:
        OSError: the directory cannot be written.
    """
    flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY | os.O_CLOEXEC
    descriptor = os.open(directory / HEADS_FILE, flags, 0o600)
    try:
        os.write(descriptor, f"{head.text}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
