"""A machine that goes wrong when it is told: between a process and its libc (``bad_machine.c``).

The process is an ordinary one; only what its calls to the system return is ours to say, from
outside, while it runs.
"""

from __future__ import annotations

import errno
import mmap
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).with_name("bad_machine.c")
_ORDER: Final = struct.Struct("=6q")
SHORT: Final = -1
"""In place of an errno: half of what was to be written is."""
HANG: Final = -2
"""For names: their look-up returns when the order is over."""
ALL: Final = -1


class Call(IntEnum):
    """As ``bad_machine.c`` numbers them."""

    WRITE = 0
    SYNC = 1
    TRUNCATE = 2
    OPEN = 3
    READ = 4
    RENAME = 5
    UNLINK = 6
    RESOLVE = 7
    THREAD = 8
    MEMORY = 9
    CLOCK = 10


class Files(IntFlag):
    DATABASE = 1
    WAL = 2
    SHM = 4
    OTHER = 8
    ANY = 15


def compiler() -> str | None:
    """A C compiler, where there is one."""
    return shutil.which("cc") or shutil.which("gcc")


def built(place: Path) -> Path:
    """The library, compiled into ``place``."""
    library = place / "bad_machine.so"
    command = compiler()
    assert command is not None
    subprocess.run(
        [command, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True
    )
    return library


class BadMachine:
    """What goes wrong for the processes that have its ``environment``."""

    def __init__(self, library: Path, orders: Path, home: Path) -> None:
        """``orders``: a file of its own; ``home``: whose files are meant."""
        orders.write_bytes(bytes(_ORDER.size * len(Call)))
        with orders.open("r+b") as file:
            self._orders = mmap.mmap(file.fileno(), 0)
        self.environment = {
            "LD_PRELOAD": str(library),
            "BAD_MACHINE_ORDERS": str(orders),
            "BAD_MACHINE_HOME": str(home),
        }

    @contextmanager
    def failing(
        self,
        call: Call,
        error: int = errno.EIO,
        files: Files = Files.ANY,
        *,
        after: int = 0,
        times: int = ALL,
    ) -> Iterator[None]:
        """Such calls fail meanwhile: all of them, or ``times`` after ``after`` that go well."""
        self.order(call, error, files, after=after, times=times)
        try:
            yield
        finally:
            self.mend(call)

    def order(
        self,
        call: Call,
        error: int = errno.EIO,
        files: Files = Files.ANY,
        *,
        after: int = 0,
        times: int = ALL,
    ) -> None:
        self.mend(call)
        at = _ORDER.size * call
        # The errno last: it is what makes it an order.
        struct.pack_into("=3q", self._orders, at + 8, after, times, files)
        struct.pack_into("=q", self._orders, at, error)

    def mend(self, call: Call) -> None:
        """All goes well again; how often it did not is kept."""
        struct.pack_into("=q", self._orders, _ORDER.size * call, 0)

    def hits(self, call: Call) -> int:
        """How many such calls failed, in all."""
        hits: int = _ORDER.unpack_from(self._orders, _ORDER.size * call)[4]
        return hits

    def all_hits(self) -> int:
        return sum(self.hits(call) for call in Call)

    def set_clock(self, by_s: int) -> None:
        """Its wall clock is so many seconds ahead of ours, or behind."""
        struct.pack_into("=q", self._orders, _ORDER.size * Call.CLOCK + 40, by_s)

    def close(self) -> None:
        self._orders.close()
