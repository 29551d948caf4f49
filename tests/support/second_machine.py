"""A second machine that takes over with a copy of the database, in the first one's folder."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from risala.engine.features.backup.stored.restore import restore
from risala.engine.model.records.messages import Stamp
from risala.engine.wiring.foundation import DATABASE


def copy_of(folder: Path) -> Path:
    """A copy of the database as it is now."""
    target = folder / "copy.db"
    target.unlink(missing_ok=True)
    with (
        closing(sqlite3.connect(folder / DATABASE)) as source,
        closing(sqlite3.connect(target)) as copy,
    ):
        source.backup(copy)
        copy.execute("pragma journal_mode = delete")
    return target


def take_over(folder: Path, copy: Path, now_ms: int, *, goes_on: bool) -> None:
    """Let the folder have what the second machine has.

    Args:
        goes_on: the copy has all that was answered, as that of a standby which is asked before each
            answer; else nobody knows what was done since.
    """
    for end in ("", "-wal", "-shm"):
        (folder / f"{DATABASE}{end}").unlink(missing_ok=True)
    restore(
        copy,
        folder / DATABASE,
        resend_pending=False,
        even_unclean=False,
        stamp=lambda: Stamp(now_ms),
        progress=lambda *_: None,
        shown_by=folder / "of-the-first-machine.db",
        goes_on=goes_on,
    )
