"""What is read and written in a database that is not open anywhere, beside a takeover.

An asynchronous copy misses the last moments of a primary that was killed. When that machine comes
back, its own database still has them: they are listed, and the database is set aside whole.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from risala.engine.journal.store import audit_log
from risala.engine.journal.store.opening import connect, open_reader, open_writer, sqlite_sentence
from risala.engine.journal.store.schema.migrations import migrate
from risala.engine.journal.upkeep import database_copy
from risala.engine.journal.upkeep.database_copy import fold_wal
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import StorageUnusable
from risala.engine.model.numbers import STATUSES, recipient_text
from risala.engine.model.times import iso


def last_entry(database: Path) -> int:
    """The number of the ledger's last entry; 0 if there is no such row.

    Raises:
        StorageUnusable: SQLite refused.
    """
    try:
        with closing(open_reader(database)) as conn:
            return last_entry_in(conn)
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(database, error)) from error


def last_entry_in(conn: sqlite3.Connection) -> int:
    """:func:`last_entry` of a database that is open.

    Raises:
        sqlite3.Error: SQLite refused.
    """
    (key,) = conn.execute("SELECT coalesce(max(seq), 0) FROM entry").fetchone()
    return int(key)


def write_line(database: Path, entry: AuditEntry) -> None:
    """Write a line into the audit trail; the caller holds the lock of the data directory.

    Raises:
        StorageUnusable: SQLite refused.
    """
    try:
        with closing(open_writer(database, migrate)) as conn:
            conn.execute("begin immediate")
            audit_log.write(conn, entry)
            conn.execute("commit")
    except sqlite3.Error as error:
        raise StorageUnusable(sqlite_sentence(database, error)) from error


_MESSAGES: Final = """
SELECT m.id, (SELECT id FROM organizations WHERE no = m.organization), m.recipient, m.status,
    coalesce(m.created_at, m.key >> 15), m.sent_at, m.price
FROM message m LEFT JOIN other.message o ON o.key = m.key
WHERE o.key IS NULL OR o.id <> m.id
"""
"""The key of a row says when it was accepted: so another message may have it by chance."""
_SENT: Final = """
SELECT m.id, (SELECT id FROM organizations WHERE no = m.organization), m.recipient, m.status,
    coalesce(m.created_at, m.key >> 15), m.sent_at, m.price
FROM message m JOIN other.message o ON o.key = m.key AND o.id = m.id
WHERE m.status IN (2, 3, 4) AND o.status IN (0, 1, 5, 6)
"""
"""Sent, delivered or undelivered here; pending, processing, failed or canceled there."""
_ENTRIES: Final = """
SELECT e.seq, (SELECT id FROM organizations WHERE no = e.organization), e.amount, e.at
FROM entry e LEFT JOIN other.entry o
    ON o.seq = e.seq AND o.organization = e.organization AND o.amount = e.amount AND o.at IS e.at
WHERE o.seq IS NULL AND e.kind IN (2, 3)
"""
"""Top-ups and adjustments: charges and refunds belong to the messages that are listed."""
_MAGIC: Final = b"SQLite format 3\0"
_WAL_FORMAT: Final = b"\x02\x02"
"""https://sqlite.org/fileformat2.html: the versions to write and to read it, with a log."""
_TABLES: Final = (
    ("verifications", "verifications"),
    ("inbound", "inbound"),
    ("payments", "payments"),
    ("organizations", "organizations"),
    ("keys", "api_keys"),
    ("users", "users"),
    ("senders", "senders"),
    ("endpoints", "webhook_endpoints"),
    ("mailings", "mailings"),
)
"""Names of what people can make again, and the tables that have it by ``id``."""


def list_rest(database: Path, other: Path, target: Path) -> dict[str, int]:
    """Write what ``database`` has and ``other`` has not, one line of JSON each, to a new file
    (0600); how many there are of each kind, also of those that there are none.

    Raises:
        StorageUnusable: one of the two cannot be read; nothing was written.
        OSError: the disk refuses.
    """
    if not _is_ours(database):
        raise StorageUnusable(f"The file {database} is not a database.")
    counts = Counter(dict.fromkeys(("messages", "sent", "money", *dict(_TABLES)), 0))
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            # To be written to, since SQLite brings a database in order that was not closed.
            with closing(connect(database, "rw")) as conn:
                conn.execute("ATTACH ? AS other", (f"{other.absolute().as_uri()}?mode=ro",))
                for kind, values in _rest(conn):
                    counts[kind] += 1
                    file.write(json.dumps({"kind": kind, **values}, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
    except sqlite3.Error as error:
        target.unlink(missing_ok=True)
        raise StorageUnusable(sqlite_sentence(database, error)) from error
    except OSError:
        target.unlink(missing_ok=True)
        raise
    database_copy.sync_directory(target.parent)
    return dict(counts)


def _rest(conn: sqlite3.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    for kind, query in (("messages", _MESSAGES), ("sent", _SENT)):
        for id_, organization, recipient, status, at, sent_at, price in conn.execute(query):
            yield (
                kind,
                {
                    "id": id_,
                    "organizationId": organization,
                    "to": recipient_text(recipient),
                    "status": STATUSES.word(status),
                    "createdAt": iso(at),
                    "sentAt": None if sent_at is None else iso(sent_at),
                    "price": price,
                },
            )
    for number, organization, amount, at in conn.execute(_ENTRIES):
        created_at = None if at is None else iso(at)
        entry = {
            "id": number,
            "organizationId": organization,
            "amount": amount,
            "createdAt": created_at,
        }
        yield "money", entry
    for kind, table in _TABLES:
        query = f"SELECT id FROM {table} WHERE id NOT IN (SELECT id FROM other.{table})"  # noqa: S608 -- names of ours
        for (id_,) in conn.execute(query):
            yield kind, {"id": id_}


def move_aside(database: Path, now_ms: int) -> Path:
    """Rename a database that is not open, so that nothing of it is lost; its new name.

    Raises:
        OSError: the disk refuses.
    """
    moment = datetime.fromtimestamp(now_ms / 1000, UTC)
    target = database.with_name(f"{database.name}.before-rejoin-{moment:%Y%m%dT%H%M%S.%f}")
    if _is_ours(database):
        fold_wal(database)
    wal = database.with_name(f"{database.name}-wal")
    if wal.exists():  # it could not be folded in: the database is damaged, keep both
        wal.rename(target.with_name(f"{target.name}-wal"))
    database.with_name(f"{database.name}-shm").unlink(missing_ok=True)
    database.rename(target)
    database_copy.sync_directory(database.parent)
    return target


def _is_ours(database: Path) -> bool:
    """Whether it begins as a database with a write-ahead log does. SQLite throws the log of any
    other file away when it opens that."""
    with open(database, "rb") as file:
        head = file.read(20)
    return head.startswith(_MAGIC) and head[18:20] == _WAL_FORMAT
