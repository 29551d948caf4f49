"""The checksum beside a backup: one flipped bit in a text or a price is still a whole database."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

SUFFIX: Final = ".sha256"
SIGNATURE_SUFFIX: Final = ".signature"
"""The suffix of the file that shows who made a backup."""
PIECE_BYTES: Final = 1 << 20
"""Bytes read between two checks for a wish to end."""
_LINE: Final = re.compile(r"([0-9a-f]{64}) [ *]\S.*\n?", re.ASCII)
_FILE_BYTES_MAX: Final = 4096


class UnreadableChecksum(Exception):
    """The checksum file exists, but has no checksum. ``str()`` is a sentence."""


def beside(file: Path) -> Path:
    return file.with_name(file.name + SUFFIX)


def signature_of(file: Path) -> Path:
    return file.with_name(file.name + SIGNATURE_SUFFIX)


def of_file(file: Path, progress: Callable[[str, int, int], None]) -> str:
    """SHA-256 of a file, in hexadecimal. Raises what ``progress`` raises."""
    digest, size = hashlib.sha256(), file.stat().st_size
    with open(file, "rb") as content:
        while piece := content.read(PIECE_BYTES):
            digest.update(piece)
            progress("adding up", content.tell(), size)
    return digest.hexdigest()


def write(file: Path, sha256: str) -> None:
    """Write the checksum beside a file (0600), in the form of ``sha256sum``."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(beside(file), flags, 0o600)
    try:
        os.write(descriptor, f"{sha256}  {file.name}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def forget(file: Path) -> None:
    """Remove the checksum, and the signature of it."""
    beside(file).unlink(missing_ok=True)
    signature_of(file).unlink(missing_ok=True)


def expected(file: Path) -> str | None:
    """The checksum beside a file; None if it does not exist.

    Raises:
        UnreadableChecksum: the file has something else.
    """
    try:
        with open(beside(file), "rb") as content:
            text = content.read(_FILE_BYTES_MAX).decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    line = _LINE.fullmatch(text)
    if line is None:
        raise UnreadableChecksum(
            f"{beside(file)} has no checksum. Remove the file, or fetch it again."
        )
    return line[1]
