"""Examines an installation: each problem that has happened in practice, in one sentence.

Nothing here changes anything. Values that only the running service has (carriers, journal) are
arguments; all others are read from the machine and from the database, by a read-only connection.
"""

from __future__ import annotations

import shutil
from itertools import chain

from risala.engine.features.doctor import database, machine, running
from risala.engine.journal.upkeep.database_copy import Progress
from risala.engine.journal.upkeep.database_facts import SQLITE_VERSION
from risala.engine.model.features import features
from risala.engine.model.findings import DATABASE, Finding, Grade, Patient


def examine(patient: Patient, progress: Progress) -> list[Finding]:
    """All checks, in the order of repair, and then what features say. Reads the whole database;
    call it in a thread."""
    theirs = (feature.doctor()(patient) for feature in features() if feature.doctor is not None)
    return [*_examine(patient, progress), *chain.from_iterable(theirs)]


def _examine(patient: Patient, progress: Progress) -> list[Finding]:
    if not patient.data_dir.is_dir():
        text = (
            f"There is no {patient.data_dir} yet. `risala org create` or `risala serve` creates it."
        )
        return [Finding("directory", Grade.WARN, text), machine.sqlite(SQLITE_VERSION)]
    checks = [
        machine.directory(patient.data_dir),
        machine.filesystem(patient.data_dir),
        machine.disk(shutil.disk_usage(patient.data_dir).free, patient.settings.alerts),
        *machine.wal(patient.data_dir / f"{DATABASE}-wal"),
        machine.lock(patient),
        machine.sqlite(SQLITE_VERSION),
        *database.database(patient, progress),
        machine.files(machine.file_limit(patient.pid)),
        *machine.smpp(patient.settings.smpp_server),
        *machine.tls_keys(patient.settings),
        *machine.audit_key(patient.data_dir),
        *machine.sealed_secrets(patient.data_dir),
    ]
    if patient.running and patient.upgrading is None:
        checks += running.service_findings(patient)
    return checks
