"""Standard output and error of a process that must outlive their reader.

A terminal is closed, a program at the other end of a pipe ends, the disk of a file is full: then a
line is lost, and nothing else. Without this the writer of the line would get an exception, in the
middle of its work.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_OUT_OF_REACH: Final = (OSError, ValueError)
"""The exceptions of writing; ValueError: the file was closed."""


class _Outlet(io.RawIOBase):
    """Writes to a descriptor as far as possible, and reports later how much was lost.

    Args:
        notes: when writing works again, first write that something is missing.
    """

    def __init__(self, descriptor: int, *, notes: bool) -> None:
        self._descriptor = descriptor
        self._notes = notes
        self._lost = 0
        """Writes, each of which is a line or more, since the last that went well."""

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, content: ReadableBuffer, /) -> int:
        octets = bytes(content)
        try:
            if self._lost:
                self._write_all(self._note())
                self._lost = 0
            self._write_all(octets)
        except _OUT_OF_REACH:
            self._lost += 1
        return len(octets)

    def _write_all(self, octets: bytes) -> None:
        rest = memoryview(octets)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def _note(self) -> bytes:
        """A line of its own: the last one may have been cut."""
        if not self._notes:
            return b"\n"
        line = {"event": "log.lost", "level": "warning", "lines": self._lost}
        return f"\n{json.dumps(line)}\n".encode()


@contextmanager
def unharmed() -> Iterator[None]:
    """Until the block ends, lines that cannot be printed or logged cause no error."""
    out, err = _safe(sys.stdout, notes=False), _safe(sys.stderr, notes=True)
    with redirect_stdout(out), redirect_stderr(err):
        yield


def _safe(stream: TextIO, *, notes: bool) -> TextIO:
    """A stream that writes past the buffer of the given one; that one itself if it has no
    descriptor, as in a test."""
    with suppress(*_OUT_OF_REACH):
        stream.flush()
    try:
        descriptor = stream.fileno()
    except (*_OUT_OF_REACH, AttributeError):
        return stream
    outlet = _Outlet(descriptor, notes=notes)
    return io.TextIOWrapper(  # type: ignore[type-var]  # it takes all that it is given, as buffers do
        outlet,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=True,
        write_through=True,
    )
