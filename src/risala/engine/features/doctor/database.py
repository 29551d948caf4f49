"""Checks of the database, by a read-only connection: whether it is whole, and what waits in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from risala.engine.features.doctor import stored
from risala.engine.features.doctor.stored import (
    UNSERVED_COUNTED_MAX,
    DatabaseFacts,
    DatabaseUnreadable,
)
from risala.engine.journal.store.presence import missing
from risala.engine.journal.upkeep.database_copy import Progress
from risala.engine.journal.upkeep.upgrade.preparing import megabytes
from risala.engine.journal.upkeep.upgrade.upgrade import Forecast
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.findings import DATABASE, Finding, Grade, Patient, clock_finding
from risala.engine.model.people_records import MailQueueStatus
from risala.engine.model.records.messages import Unserved

QUEUE_WARN_S: Final = 300
"""A message that has been due for longer needs somebody's action."""
UNSERVED_SHOWN_MAX: Final = 5
"""Prefixes of numbers that are named in one sentence."""


def database(patient: Patient, progress: Progress) -> Iterable[Finding]:
    """Whether it can be read whole, and then each possible problem of its content."""
    path = patient.data_dir / DATABASE
    if (reason := missing(path)) is not None:
        yield Finding("database", Grade.FAIL, reason)
        return
    if not path.exists():
        yield Finding(
            "database", Grade.WARN, "There is no database yet. The first start creates it."
        )
        return
    try:
        facts = stored.read(path, patient, progress)
    except StorageUnusable as error:
        text = f"{error} Stop the service, keep a copy of it, and restore a backup."
        yield Finding("database", Grade.FAIL, text)
        return
    except DatabaseUnreadable as error:
        yield Finding("database", Grade.FAIL, str(error))
        return
    size_mb = path.stat().st_size / 1e6
    yield Finding("database", Grade.OK, f"SQLite finds no fault in its {size_mb:.1f} MB.")
    if patient.upgrading is None:
        yield _schema(path)
    if isinstance(facts, Forecast):
        if patient.upgrading is None:
            yield _version(facts)
        return
    if facts.currency_fault is not None:
        yield Finding("currency", Grade.FAIL, facts.currency_fault)
    yield clock_finding(facts.newest_ms, patient.now_ms)
    yield _queue(facts, patient)
    yield _unserved(facts.unserved)
    yield from _restored(facts.held)
    yield _mails(facts.mails)
    yield from facts.findings


def _schema(path: Path) -> Finding:
    """Whether a backup of it, or a standby's copy, would be taken."""
    try:
        foreign = stored.foreign_schema(path)
    except DatabaseUnreadable as error:
        return Finding("schema", Grade.FAIL, str(error))
    if foreign is None:
        text = "Its tables, indexes, views and triggers are those that Risala makes."
        return Finding("schema", Grade.OK, text)
    text = (
        f"The database is not as Risala makes one: {foreign}. No restore takes a backup of it, and "
        f"no standby takes over with a copy. Undo what was changed by hand."
    )
    return Finding("schema", Grade.WARN, text)


def _version(ahead: Forecast) -> Finding:
    name = "version"
    need, free = megabytes(ahead.need_bytes), ahead.free_bytes // 1_000_000
    state = "on its way to this version" if ahead.begun else "of an older version"
    words = f"The database is {state}"
    if ahead.free_bytes < ahead.need_bytes:
        text = (
            f"{words}. The upgrade needs {need} MB of disk space, and only {free} MB are free. "
            "Free some space."
        )
        return Finding(name, Grade.FAIL, text)
    text = (
        f"{words}. The next start upgrades it, and is ready when that is done. The upgrade "
        f"needs up to {need} MB of disk space; {free} MB are free."
    )
    return Finding(name, Grade.WARN, text)


def _queue(facts: DatabaseFacts, patient: Patient) -> Finding:
    count, oldest = facts.due_messages, facts.oldest_due_ms
    if oldest is None:
        return Finding("queue", Grade.OK, "No due message is waiting.")
    age_s = (patient.now_ms - oldest) // 1000
    words = f"{count} due messages wait, the oldest for {age_s} s"
    if not patient.running:
        return Finding("queue", Grade.WARN, f"{words}. Start the service.")
    if age_s > QUEUE_WARN_S:
        text = f"{words}. Check `risala carriers` for one that is down, paused or too slow."
        return Finding("queue", Grade.WARN, text)
    return Finding("queue", Grade.OK, f"{words}.")


def _unserved(unserved: Unserved) -> Finding:
    if not unserved.count:
        return Finding(
            "numbers", Grade.OK, "Every waiting message has a carrier that serves its number."
        )
    more = " or more" if unserved.count == UNSERVED_COUNTED_MAX else ""
    words = "1 message waits" if unserved.count == 1 else f"{unserved.count}{more} messages wait"
    some = ", ".join(f"{prefix}…" for prefix in unserved.prefixes[:UNSERVED_SHOWN_MAX])
    text = (
        f"{words} because no enabled carrier serves numbers like {some}. Add them to a "
        f"carrier's `prefixes` or `networks`."
    )
    return Finding("numbers", Grade.WARN, text)


def _restored(count: int) -> Iterator[Finding]:
    """The findings on messages that a restore holds; empty if it holds none."""
    if count:
        words = "1 message is" if count == 1 else f"{count} messages are"
        text = (
            f"{words} held since a restore. See `risala restore --held`, then run `risala "
            f"restore --release` or `--end`."
        )
        yield Finding("restored", Grade.WARN, text)


def _mails(mails: MailQueueStatus) -> Finding:
    name = "mail"
    if mails.failing:
        text = f"{mails.failing} mails wait because the mailer did not accept them. See the log."
        return Finding(name, Grade.WARN, text)
    if mails.given_up:
        text = f"{mails.given_up} mails of the last week were given up. See the log."
        return Finding(name, Grade.WARN, text)
    if mails.no_mailer:
        text = (
            f"{mails.no_mailer} mails of the last week were dropped. Set `mail.host`, or let "
            f"people sign in with `risala user sign-in EMAIL`."
        )
        return Finding(name, Grade.WARN, text)
    return Finding(name, Grade.OK, "No mail is stuck.")
