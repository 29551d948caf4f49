"""Which of two machines may send: files in a directory that both can see.

::

    0000000003.json   {"epoch": 3, "holder": "…", "machine": "…", "count": 412, …}

Each holder writes to a file of its own, whose number is one more than that of the holder before.
The highest number holds. So a write that was on its way for long harms nobody: it is to a file that
no longer counts. To renew is to write one's own file, and to find no higher number afterwards.

Why two machines never hold it at once: a renewal counts from before it began to look, for the term.
Whoever takes over makes the next number and then waits for the term and a margin. A renewal that
found no higher number began before that was made, so that it has ended by then; one that began
later finds the number, and does not count. No clock is compared with another machine's: each
measures spans by its own, which also runs while a machine sleeps (CLOCK_BOOTTIME).
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from risala.engine.journal.shipping.pieces import note_of, put
from risala.engine.journal.upkeep.backup import sync_directory

_HELD: Final = "lease.json"
"""In the data directory."""
MARGIN_SHARE: Final = 0.1
MARGIN_S: Final = 2.0
"""What is waited beyond the term: two machines' clocks do not run alike, and a process that has to
end needs a moment for it."""


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
    """For people."""
    term_s: int
    count: int
    """One more with each renewal."""
    at: int
    """UTC epoch milliseconds of the renewal by the holder's clock: for people. Where it is
    released, of the orderly stop as the holder's database has it: so a takeover knows that its copy
    is of that very stop."""
    entries: int
    """The ledger's last entry's number in the holder's database, at the renewal."""
    released: bool = False
    """The holder has ended, in order, and sends nothing more."""


class LeaseTaken(Exception):
    """Somebody else holds it, or has taken it since."""

    def __init__(self, lease: SendLease) -> None:
        super().__init__(
            f"The lease is held by {lease.machine} since its number {lease.epoch}: only one of two "
            "machines may send, and this one is not it."
        )
        self.lease = lease


class LeaseLost(OSError):
    """The directory is not the one that it was."""


class LeaseDirectory:
    """The files. Each call may take as long as the directory does: call it in a thread."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def highest(self) -> SendLease | None:
        """Who holds it; None: nobody ever did.

        Raises:
            OSError: the directory cannot be read.
        """
        found = sorted(self._path.glob("[0-9]*.json"))
        for path in reversed(found):
            told = note_of(path)
            if told is not None:
                return SendLease(**told)
        self._path.stat()  # a directory that is not there is no directory without a lease
        return None

    def before(self, lease: SendLease) -> SendLease | None:
        """The one that a lease was taken from; None: it was the first."""
        told = note_of(self._file(lease.epoch - 1))
        return None if told is None else SendLease(**told)

    def take(self, holder: str, term_s: int, entries: int, at: int, epoch: int) -> SendLease:
        """Make the lease of this number, which nobody has made.

        Raises:
            LeaseTaken: somebody was faster.
            OSError: the directory refuses.
        """
        lease = SendLease(epoch, holder, socket.gethostname(), term_s, 0, at, entries)
        path = self._file(epoch)
        draft = path.with_name(f".{path.name}.{holder}")
        put(draft, json.dumps(asdict(lease)).encode())
        try:
            os.link(draft, path)  # refuses where there is one
        except FileExistsError:
            found = self.highest()
            raise LeaseTaken(lease if found is None else found) from None
        finally:
            with suppress(OSError):
                draft.unlink()
        sync_directory(self._path)
        return lease

    def renew(
        self, lease: SendLease, entries: int, at: int, *, released: bool = False
    ) -> SendLease:
        """Write a lease anew, and see that it still holds.

        Raises:
            LeaseTaken: it does not.
            OSError: the directory refuses; whether it was renewed is not known.
        """
        self._refuse_later(lease)
        lease = replace(lease, count=lease.count + 1, entries=entries, at=at, released=released)
        put(self._file(lease.epoch), json.dumps(asdict(lease)).encode())
        self._refuse_later(lease)
        return lease

    def _refuse_later(self, lease: SendLease) -> None:
        found = self.highest()
        if found is None or found.epoch < lease.epoch:
            # What was mounted there is not: whoever wrote on would have a lease of its own.
            raise LeaseLost(f"{self._path} has no lease {lease.epoch} any more: is it mounted?")
        if (found.epoch, found.holder) != (lease.epoch, lease.holder):
            raise LeaseTaken(found)

    def _file(self, epoch: int) -> Path:
        return self._path / f"{epoch:010}.json"


@dataclass(frozen=True, slots=True)
class LeaseMemory:
    """What the holder of a data directory remembers of its lease."""

    holder: str
    """Its name, made at its first use."""
    epoch: int
    """The last that it held; 0: none yet."""
    serves: bool = False
    """Whether it has served under it, or may: False in the middle of a takeover."""


def held(data_dir: Path) -> LeaseMemory:
    found = note_of(data_dir / _HELD)
    return LeaseMemory(secrets.token_hex(16), 0) if found is None else LeaseMemory(**found)


def remember(data_dir: Path, held: LeaseMemory) -> None:
    put(data_dir / _HELD, json.dumps(asdict(held)).encode())
