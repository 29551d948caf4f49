"""The doctor's reads of a database that no engine in its process has open."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal import storage
from risala.engine.journal.messages import waiting
from risala.engine.journal.people import mails
from risala.engine.journal.store.currency import currency_fault
from risala.engine.journal.store.opening import open_reader, refuse_unusable, sqlite_sentence
from risala.engine.journal.store.schema import foreign
from risala.engine.journal.upkeep.database_copy import Progress, check
from risala.engine.journal.upkeep.upgrade.upgrade import Forecast, forecast
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.features import features
from risala.engine.model.findings import Finding, Patient
from risala.engine.model.people_records import MailQueueStatus
from risala.engine.model.records.messages import Unserved

UNSERVED_COUNTED_MAX: Final = 10_000
"""The most messages that are counted: a higher number adds nothing."""

_NAMES: Final = (
    "SELECT name FROM organizations UNION SELECT name FROM users UNION SELECT email FROM users"
    " UNION SELECT name FROM senders"
)


class DatabaseUnreadable(Exception):
    """SQLite refused to read it, or this version cannot use it; the sentence says why."""


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """What waits in a database."""

    newest_ms: int | None
    """When the newest row was made, UTC epoch milliseconds; None if it does not exist."""
    due_messages: int
    oldest_due_ms: int | None
    unserved: Unserved
    """Messages whose numbers no enabled carrier serves."""
    held: int
    """Messages that a restore holds."""
    mails: MailQueueStatus
    currency_fault: str | None
    """Why a service in the settings' currency cannot use it; None: it can."""
    findings: tuple[Finding, ...]
    """What features say of it."""


def read(path: Path, patient: Patient, progress: Progress) -> DatabaseFacts | Forecast:
    """Read the whole file for faults, then what is in it; of a database of an older version, whose
    rows are elsewhere, what bringing it over takes.

    Raises:
        StorageUnusable: it is damaged.
        DatabaseUnreadable: SQLite refused, or another version has written it.
    """
    try:
        with closing(open_reader(path)) as conn:
            _refuse_unusable(conn, path)
            check(conn, path, progress)
            ahead = forecast(path)
            if ahead is not None:
                return ahead
            due, oldest = waiting.due(conn, patient.now_ms)
            currency = patient.currency
            return DatabaseFacts(
                newest_ms=storage.newest_ms(conn),
                due_messages=due,
                oldest_due_ms=oldest,
                unserved=waiting.unserved(conn, UNSERVED_COUNTED_MAX),
                held=waiting.held(conn),
                mails=mails.queue_status(conn),
                currency_fault=currency and currency_fault(conn, currency),
                findings=tuple(
                    finding
                    for feature in features()
                    if feature.examined is not None
                    for finding in feature.examined()(conn, patient)
                ),
            )
    except sqlite3.Error as error:
        raise DatabaseUnreadable(sqlite_sentence(path, error)) from error


def names(path: Path) -> list[str]:
    """What people named in a database: organizations, users and their addresses, senders; empty:
    it cannot be read."""
    try:
        with closing(open_reader(path)) as conn:
            rows = conn.execute(_NAMES).fetchall()
    except (sqlite3.Error, StorageUnusable, OSError):
        return []
    return [name for (name,) in rows if name]


def foreign_schema(path: Path) -> str | None:
    """What is in its schema that Risala does not make, or is not there, without a dot; None: it is
    as its version makes it. A restore of its backups and a takeover refuse such a file.

    Raises:
        DatabaseUnreadable: SQLite refused.
    """
    try:
        with closing(open_reader(path)) as conn:
            foreign.refuse_foreign(conn)
    except foreign.ForeignSchema as error:
        return str(error)
    except sqlite3.Error as error:
        raise DatabaseUnreadable(sqlite_sentence(path, error)) from error
    return None


def _refuse_unusable(conn: sqlite3.Connection, path: Path) -> None:
    try:
        refuse_unusable(conn, path)
    except StorageUnusable as error:  # it is not damaged: there is nothing to restore
        raise DatabaseUnreadable(str(error)) from error
