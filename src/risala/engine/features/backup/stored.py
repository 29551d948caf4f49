"""What the doctor says of backups."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from risala.engine.journal import storage
from risala.engine.journal.upkeep import backup_note
from risala.engine.model.findings import Finding, Grade, Patient

_HOUR_MS: Final = 3_600_000


def examine(conn: sqlite3.Connection, patient: Patient) -> Iterator[Finding]:
    """Whether the last backup is old, or there never was one; empty if nobody asks for any."""
    note = backup_note.read(patient.data_dir)
    since_ms = storage.first_ms(conn) if note is None else note.at
    hours_max = patient.settings.alerts.backup_age_h
    if not hours_max or since_ms is None:  # not checked, or nothing to lose yet
        return
    age_ms = patient.now_ms - since_ms
    hours = age_ms // _HOUR_MS
    if age_ms <= hours_max * _HOUR_MS:
        text = "The last backup is recent."
        if note is None:
            text = "There is no backup yet, and little data. Run `risala backup` every day."
        yield Finding("backup", Grade.OK, text)
    elif note is None:
        text = (
            f"There is no backup, although there has been data for {hours} hours. Run `risala "
            "backup`."
        )
        yield Finding("backup", Grade.WARN, text)
    else:
        text = f"The last backup was made {hours} hours ago. Run `risala backup` every day."
        yield Finding("backup", Grade.WARN, text)
