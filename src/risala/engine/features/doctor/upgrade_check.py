"""Checks beforehand what an upgrade to this version would find; changes nothing.

The new version runs it while the former one may still serve: the database is read by a read-only
connection, and no lock is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from risala.engine.journal.upkeep import backup_note
from risala.engine.journal.upkeep.upgrade.preparing import megabytes
from risala.engine.journal.upkeep.upgrade.upgrade import forecast, pending
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import Finding, Grade

SECONDS_PER_MILLION: Final = (180, 360)
"""The least and the greatest time to move a million messages on small machines."""
BACKUP_HOURS_MAX: Final = 24
"""An older backup lacks more than anybody wants to enter again."""
_HOUR_MS: Final = 3_600_000


def check_data(database: Path, now_ms: int) -> list[Finding]:
    """The checks of the data, in the order in which to fix problems. Call it in a thread."""
    if not database.exists():
        text = f"There is no {database} yet, so there is nothing to upgrade."
        return [Finding("schema", Grade.OK, text)]
    try:
        names = pending(database)
        return [_schema(names), *_move(database), _backup(database.parent, now_ms)]
    except StorageUnusable as error:
        return [Finding("schema", Grade.FAIL, str(error))]


def _schema(names: Sequence[str]) -> Finding:
    if not names:
        return Finding("schema", Grade.OK, "The database already has this version's schema.")
    text = f"{len(names)} changes to the tables are due. Each takes a moment: {', '.join(names)}."
    return Finding("schema", Grade.OK, text)


def _move(database: Path) -> list[Finding]:
    """If rows have to move: how long it takes, and whether there is enough space."""
    ahead = forecast(database)
    if ahead is None:
        return [
            Finding("time", Grade.OK, "No rows need to be moved, so the service starts as usual.")
        ]
    least, most = (ahead.messages * each // 1_000_000 for each in SECONDS_PER_MILLION)
    again = "An upgrade was started and continues. " if ahead.begun else ""
    text = (
        f"{again}{ahead.messages} messages must be moved, which takes {_span(least)} to "
        f"{_span(most)}. Until then the service answers 503."
    )
    grade = Grade.FAIL if ahead.free_bytes < ahead.need_bytes else Grade.OK
    need, free = megabytes(ahead.need_bytes), ahead.free_bytes // 1_000_000
    room = f"It needs up to {need} MB of free disk space, and {free} are available."
    return [Finding("time", Grade.OK, text), Finding("disk", grade, room)]


def _span(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{-(-seconds // 60)} minutes"


def _backup(data_dir: Path, now_ms: int) -> Finding:
    note = backup_note.read(data_dir)
    if note is None:
        text = "This database has no backup yet. Make one with `risala backup`."
        return Finding("backup", Grade.FAIL, text)
    hours = (now_ms - note.at) // _HOUR_MS
    if hours >= BACKUP_HOURS_MAX:
        text = f"The last backup was made {hours} hours ago. Make a new one."
        return Finding("backup", Grade.FAIL, text)
    return Finding("backup", Grade.OK, f"The last backup was made {hours} hours ago.")
