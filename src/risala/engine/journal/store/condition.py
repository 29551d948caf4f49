"""The storage's condition: its present fault, reported by any thread and read by any other.

There are two kinds of faults. A passing one (a full disk, a failed write) ends with the next commit
that reaches the disk. A lasting one (damage, a failed read, a database that was removed) stops the
accepting of messages until a restart: one good page proves nothing for the others.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from risala.dataclass import dataclass
from risala.engine.journal.store.presence import Presence

# Busy belongs here too: a second try would wait for the stray writer once per unit.
_STORAGE: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_BUSY,
    }
)
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_UNREADABLE: Final = frozenset(
    {
        sqlite3.SQLITE_IOERR_READ,
        sqlite3.SQLITE_IOERR_SHORT_READ,
        sqlite3.SQLITE_IOERR_CORRUPTFS,
        sqlite3.SQLITE_IOERR_DATA,
    }
)
_UNDECODED: Final = "Could not decode to UTF-8"
"""Python's own sentence, without a code. Our texts are written as UTF-8: the page is damaged."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Ailment:
    text: str
    """What happened, without a path: it is shown to everybody."""
    advice: str
    """What to do about it."""
    lasting: bool
    """Nothing is accepted until a restart."""

    @property
    def sentence(self) -> str:
        return f"{self.text[0].upper()}{self.text[1:]}. {self.advice}"


_NO_MEMORY: Final = Ailment(
    "memory has run out",
    "Find out what uses up the machine's memory. The service recovers by itself.",
    lasting=False,
)


def is_storage_fault(error: BaseException) -> bool:
    """Whether the disk or the file failed, and not the caller."""
    return isinstance(error, sqlite3.Error) and (_code(error) & 0xFF) in _STORAGE


def is_doubtful(error: sqlite3.Error) -> bool:
    """Whether a ``COMMIT`` that failed like this may be on disk nevertheless.

    All of its frames may have been written when the sync failed. A full disk took them only in
    part, and a lock stopped it before the first.
    """
    return _code(error) & 0xFF not in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY)


def _code(error: sqlite3.Error) -> int:
    """SQLite's extended code; its low byte is the plain one. 0: no SQLite error."""
    if str(error).startswith(_UNDECODED):
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", None) or 0


class Condition:
    """The storage's condition. Written and read from any thread: each step is one assignment."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._presence: Presence | None = None
        self.ailment: Ailment | None = None
        """The present fault, as far as it is known."""
        self.lost = False
        """The database is no longer in its place."""

    def opened(self) -> None:
        """The database is open: from now on it has to be the same."""
        self._presence = Presence(self._path)

    @property
    def lasts(self) -> bool:
        """Nothing may be accepted until a restart."""
        return self.ailment is not None and self.ailment.lasting

    def check(self) -> bool:
        """Check that the database is still in its place, and no other lasting fault is known."""
        if not self.lasts and self._presence is not None:
            lost = self._presence.lost()
            if lost is not None:
                self.lost = True
                text = f"the database{lost} while the service runs"
                self._fall_ill(Ailment(text, _advice_lost(self._path), lasting=True))
        return not self.lasts

    def meet(self, error: BaseException) -> None:
        """Report an error of the storage: in a commit, or in a read."""
        if self.lasts:
            return
        if isinstance(error, MemoryError):
            self._fall_ill(_NO_MEMORY)
            return
        if isinstance(error, OSError):
            self._fall_ill(_unsynced(error))
            return
        code = _code(error) if isinstance(error, sqlite3.Error) else 0
        self._fall_ill(_ailment(code, str(error), self._path))

    def recovered(self) -> None:
        """A commit reached the disk."""
        if self.ailment is not None and not self.ailment.lasting:
            _log.warning("storage.recovered", was=self.ailment.text)
            self.ailment = None

    def _fall_ill(self, ailment: Ailment) -> None:
        if ailment != self.ailment:  # a disk that stays full fails every second
            self.ailment = ailment
            # No traceback: its values would show the data to store.
            with suppress(MemoryError):  # a report of missing memory must not fail for want of it
                _log.error("storage.failed", reason=ailment.text, lasts=ailment.lasting)


def _unsynced(error: OSError) -> Ailment:
    """A sync that failed lasts: the system counts what it could not write as written, and says so
    of the next one too."""
    text = f"the disk that holds the database has not taken a write ({error.strerror})"
    advice = "Check the disk (`dmesg`), then start again. What was not answered may be missing."
    return Ailment(text, advice, lasting=True)


def _advice_lost(path: Path) -> str:
    return (
        "What was stored is in the files that the service still holds open: copy them from "
        f"/proc/PID/fd before you stop it. Then put {path} back, or restore a backup, and start."
    )


def _ailment(code: int, words: str, path: Path) -> Ailment:
    plain = code & 0xFF
    if plain in _DAMAGE:
        advice = (  # SQLite reports a read that the disk refused as damage too
            "Check the disk (`dmesg`): if it can be read again, start again. If not, stop the "
            f"service, keep a copy of {path}, and restore a backup."
        )
        return Ailment(f"the database is damaged ({words})", advice, lasting=True)
    if code in _UNREADABLE:
        advice = "Check the disk (`dmesg`), then restore a backup or start again."
        return Ailment(f"the database cannot be read ({words})", advice, lasting=True)
    if plain == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE:
        advice = "Free some space. The service recovers by itself."
        return Ailment("the disk that holds the database is full", advice, lasting=False)
    if plain in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        advice = (  # a process at its limit of open files gets the same code
            f"Check the rights of {path.parent}, how its disk is mounted, and how many files may "
            "be open (`risala doctor`)."
        )
        return Ailment(f"the database cannot be written ({words})", advice, lasting=False)
    if plain == sqlite3.SQLITE_BUSY:
        advice = "Close the other program that holds it."
        return Ailment("the database is locked by another program", advice, lasting=False)
    advice = "Check the disk (`dmesg`). The service recovers by itself once a write succeeds."
    return Ailment(f"the disk that holds the database fails ({words})", advice, lasting=False)
