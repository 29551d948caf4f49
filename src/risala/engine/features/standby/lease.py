"""Decides which of two machines may send: files in a directory that both can see, or PostgreSQL.

A :class:`LeaseStore` is one or the other. Of files::

    0000000003.json   {"epoch": 3, "holder": "…", "machine": "…", "count": 412, …}

Each holder writes to a separate file, whose number is one more than the former holder's. The
highest number holds the lease. So a late write does no harm: its file no longer counts. To renew is
to write the own file, and to find no higher number afterwards.

Why two machines never hold it together: a renewal is valid for the term, counted from before its
check. A new holder has seen the former lease unchanged for the term and a margin, makes the next
number, and looks at the former file once more. A renewal that found no higher number wrote its file
before that: so it shows there, and the new holder waits for the term and the margin again; one that
began later finds the number, and does not count. No clock is compared with another machine's: each
machine measures spans with its own, which also runs while the machine sleeps (CLOCK_BOOTTIME).
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final, Protocol

from risala.dataclass import dataclass
from risala.engine.features.standby.stored.notes import checked, note_of
from risala.engine.features.standby.stored.pieces import put
from risala.engine.journal.upkeep.database_copy import sync_directory
from risala.engine.model.errors import NotTheSender

_HELD: Final = "lease.json"
"""The name in the data directory."""
MARGIN_SHARE: Final = 0.1
MARGIN_S: Final = 2.0
"""The wait beyond the term: two machines' clocks differ in speed, and a process that has to end
needs a moment for it."""

EPOCH_MAX: Final = 9_999_999_999
"""The highest number of a lease: names of files have so many digits, and a takeover every second
does not come so far in three hundred years. Whatever is above, nobody has counted up to."""

SETTLES_S: Final = 2.0
"""Twice what NFS keeps of a directory with `actimeo=1`, as its page says to mount it."""


def margin_s(term_s: float) -> float:
    return MARGIN_S + MARGIN_SHARE * term_s


def boot_s() -> float:
    """Seconds of a clock that never jumps, and runs while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class SendLease:
    epoch: int
    holder: str
    machine: str
    """Shown to people."""
    term_s: int
    count: int
    """Increases by one with each renewal."""
    at: int
    """The time of the renewal by the holder's clock, UTC epoch milliseconds, shown to people. In a
    released lease, the time of the orderly stop in the holder's database: so a takeover can check
    that its copy is of that very stop."""
    entries: int
    """The number of the ledger's last entry in the holder's database, at the renewal; where answers
    wait for the copy, of the last one that the copy had then."""
    released: bool = False
    """The holder has ended, in order, and sends nothing more."""


class LeaseTaken(NotTheSender):
    """The lease is held by another machine, or was taken by one since."""

    def __init__(self, lease: SendLease) -> None:
        super().__init__(
            f"{lease.machine} holds the lease, number {lease.epoch}. Only one of the two "
            f"machines may send, and this is not the one."
        )
        self.lease = lease


class LeaseLost(OSError):
    """The directory is not the former one."""


class NoNextLease(OSError):
    """The lease has a number that nobody has counted up to, and none comes after it."""

    def __init__(self, lease: SendLease, store: object) -> None:
        super().__init__(
            f"The lease in {store} has the number {lease.epoch}, which no takeover leads to: "
            f"somebody has written it there, and nobody can take the next one. `risala standby "
            f"mend-lease` gives it the number after the last right one."
        )


class LeaseDirectory:
    """The files. Each call may take as long as the directory does: call it in a thread."""

    settles_s = SETTLES_S

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def highest(self) -> SendLease | None:
        """The present holder's lease; None: it was never held.

        Raises:
            OSError: the directory cannot be read.
        """
        paths = sorted(self._path.glob("[0-9]*.json"))
        for path in reversed(paths):
            note = note_of(path)
            if note is not None:
                return checked(SendLease, note, str(path))
        self._path.stat()  # a missing directory is not a directory without a lease
        return None

    def last_right(self) -> SendLease | None:
        """The last lease with a number up to :data:`EPOCH_MAX`; None: there is none.

        Raises:
            OSError: the directory cannot be read.
        """
        for path in sorted(self._path.glob("[0-9]*.json"), reverse=True):
            note = note_of(path) if _is_right(path) else None
            if note is not None:
                return checked(SendLease, note, str(path))
        self._path.stat()
        return None

    def mend(self, lease: SendLease) -> None:
        """Write this lease, and put the files with wrong numbers aside, which then count no more.

        Raises:
            OSError: the directory refuses.
        """
        put(self._file(lease.epoch), json.dumps(asdict(lease)).encode())
        for path in self._path.glob("[0-9]*.json"):
            if not _is_right(path):
                path.rename(path.with_name(f".{path.name}.mended"))
        sync_directory(self._path)

    def before(self, lease: SendLease) -> SendLease | None:
        """The lease from which this one was taken; None: it was the first."""
        path = self._file(lease.epoch - 1)
        note = note_of(path)
        return None if note is None else checked(SendLease, note, str(path))

    def take(self, holder: str, term_s: int, entries: int, at: int, epoch: int) -> SendLease:
        """Make the lease of this number, which must be new.

        Raises:
            LeaseTaken: another machine was faster.
            OSError: the directory refuses.
        """
        lease = SendLease(epoch, holder, socket.gethostname(), term_s, 0, at, entries)
        path = self._file(epoch)
        draft = path.with_name(f".{path.name}.{holder}")
        put(draft, json.dumps(asdict(lease)).encode())
        try:
            os.link(draft, path)  # refuses if the file exists
        except FileExistsError:
            highest = self.highest()
            raise LeaseTaken(lease if highest is None else highest) from None
        finally:
            with suppress(OSError):
                draft.unlink()
        sync_directory(self._path)
        return lease

    def renew(
        self, lease: SendLease, entries: int, at: int, *, released: bool = False
    ) -> SendLease:
        """Write a lease again, and check that it is still the highest.

        Raises:
            LeaseTaken: it is not.
            OSError: the directory refuses; whether it was renewed is unknown.
        """
        self._refuse_later(lease)
        lease = replace(lease, count=lease.count + 1, entries=entries, at=at, released=released)
        put(self._file(lease.epoch), json.dumps(asdict(lease)).encode())
        self._refuse_later(lease)
        return lease

    def _refuse_later(self, lease: SendLease) -> None:
        highest = self.highest()
        if highest is None or highest.epoch < lease.epoch:
            # The former mount is missing: a write would make a separate lease.
            raise LeaseLost(
                f"{self._path} no longer has the lease {lease.epoch}. Check that it is mounted."
            )
        if (highest.epoch, highest.holder) != (lease.epoch, lease.holder):
            raise LeaseTaken(highest)

    def _file(self, epoch: int) -> Path:
        return self._path / f"{epoch:010}.json"


def _is_right(path: Path) -> bool:
    """Whether a file's name is that of a lease which somebody has counted up to."""
    return path.stem.isdecimal() and len(path.stem) <= len(str(EPOCH_MAX))


@dataclass(frozen=True, slots=True)
class LeaseMemory:
    """What the holder of a data directory stores about its lease."""

    holder: str
    """The machine's name, made at its first use."""
    epoch: int
    """The last lease that it held; 0: none yet."""
    serves: bool = False
    """Whether it has served with it, or may: False in the middle of a takeover."""


def held(data_dir: Path) -> LeaseMemory:
    path = data_dir / _HELD
    note = note_of(path)
    return (
        LeaseMemory(secrets.token_hex(16), 0)
        if note is None
        else checked(LeaseMemory, note, str(path))
    )


def remember(data_dir: Path, held: LeaseMemory) -> None:
    put(data_dir / _HELD, json.dumps(asdict(held)).encode())


class LeaseStore(Protocol):
    """Each call may take as long as the store does: call it in a thread."""

    settles_s: float
    """Seconds until each machine sees what another one has written."""

    def highest(self) -> SendLease | None:
        """The present holder's lease; None: it was never held.

        Raises:
            OSError: the store cannot be read.
        """
        ...

    def before(self, lease: SendLease) -> SendLease | None:
        """The lease from which this one was taken, as it was then; None: it was the first.

        Raises:
            OSError: the store cannot be read.
        """
        ...

    def last_right(self) -> SendLease | None:
        """The last lease with a number up to :data:`EPOCH_MAX`; None: there is none.

        Raises:
            OSError: the store cannot be read.
        """
        ...

    def mend(self, lease: SendLease) -> None:
        """Put this lease in the place of one with a higher number than that.

        Raises:
            OSError: the store refuses.
        """
        ...

    def take(self, holder: str, term_s: int, entries: int, at: int, epoch: int) -> SendLease:
        """Make the lease of this number, which must be new.

        Raises:
            LeaseTaken: another machine was faster.
            OSError: the store refuses.
        """
        ...

    def renew(
        self, lease: SendLease, entries: int, at: int, *, released: bool = False
    ) -> SendLease:
        """Write a lease again, if it is still the highest.

        Raises:
            LeaseTaken: it is not.
            OSError: the store refuses; whether it was renewed is unknown.
        """
        ...
