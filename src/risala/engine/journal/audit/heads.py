"""Signed heads of the audit trail, compared with it; and the lines that say why some do not fit.

A restore puts back an older trail: lines that were written since are gone, and heads of them do not
fit. The restore's own line says where the former trail ended.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.store import audit_log, meta
from risala.engine.journal.store.opening import open_reader
from risala.engine.journal.store.sql import value_of
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import CallerKind, operator_by
from risala.engine.rules.trail.chain import ChainEnd, moment
from risala.engine.rules.trail.heads import KEY, Head

RESTORE: Final = "database.restore"
"""The action of a restore's line."""
_TAKEN: Final = "head_taken"
_HASH: Final = "SELECT hash FROM audit_log WHERE seq = ?"
_THERE: Final = "SELECT 1 FROM sqlite_schema WHERE name = ?"
_SAID: Final = "SELECT seq, at, after FROM audit_log WHERE action = ? ORDER BY seq"
_NAMED: Final = "SELECT 1 FROM audit_log WHERE action = ? AND subject = ?"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Heads that do not fit, in sentences."""

    faults: tuple[str, ...]
    remarks: tuple[str, ...]
    """Heads that do not fit for a reason that the trail gives."""


@dataclass(frozen=True, slots=True)
class _Restore:
    """What a restore's line says."""

    seq: int
    at: int
    kept: int
    """The last line of the backup."""
    former: int | None
    """The last line of the trail that it replaced, where that could be read."""

    def explains(self, head: Head) -> bool:
        return self.kept < head.end.seq and (self.former is None or head.end.seq <= self.former)


def compare(conn: sqlite3.Connection, heads: Iterable[Head], most: int) -> Comparison:
    """Compare heads with the lines that they are of.

    Args:
        most: sentences of each kind that are kept.
    """
    heads = [*heads]
    if not heads or value_of(conn, _THERE, (audit_log.TABLE,)) is None:
        return Comparison((), ())  # without the table, the check of its lines says so
    restores = [
        _Restore(seq, at, details.get("kept", 0), details.get("former"))
        for seq, at, details in _lines_of(conn, RESTORE)
    ]
    faults: list[str] = []
    remarks: list[str] = []
    for head in heads:
        stored_hash = value_of(conn, _HASH, (head.end.seq,))
        where = f"audit trail, head of line {head.end.seq} ({head.at})"
        if not head.is_genuine():
            faults.append(f"{where}: its signature is wrong")
        elif stored_hash == head.end.hash:
            if not is_named(conn, head.key):
                faults.append(f"{where}: its key {head.key} is in no line of the trail")
        elif (by := next((each for each in restores if each.explains(head)), None)) is not None:
            remarks.append(
                f"{where}: a restore at {moment(by.at)} (line {by.seq}) put back a backup that"
                f" ended at line {by.kept}"
            )
        elif stored_hash is None:
            faults.append(f"{where}: the trail has no such line")
        else:
            faults.append(f"{where}: this line, or one before it, was changed since")
    return Comparison(tuple(faults[:most]), tuple(remarks[:most]))


def is_named(conn: sqlite3.Connection, key: str) -> bool:
    """Whether the trail names a public key."""
    return value_of(conn, _NAMED, (KEY, key)) is not None


def end_of(database: Path) -> ChainEnd | None:
    """The end of a database's trail; None: there is none, or it cannot be read."""
    if not database.exists():
        return None
    try:
        with closing(open_reader(database)) as conn:
            return audit_log.noted_end(conn)
    except sqlite3.Error:
        return None


def note_restore(
    conn: sqlite3.Connection, source: Path, former: ChainEnd | None, now_ms: int
) -> None:
    """Write the line of a restore into the restored trail.

    Args:
        former: where the trail that is replaced ended; None: it is unknown.
    """
    kept = audit_log.end(conn)
    details = {"backup": source.name, "kept": kept.seq}
    if former is not None:
        details |= {"former": former.seq, "formerHash": former.hash}
    caller = operator_by(CallerKind.CLI, os.getuid())
    audit_log.write(conn, AuditEntry(caller=caller, action=RESTORE, at=now_ms, details=details))


def _lines_of(conn: sqlite3.Connection, action: str) -> Sequence[tuple[int, int, dict[str, Any]]]:
    lines = []
    for seq, at, after in conn.execute(_SAID, (action,)):
        try:
            details = json.loads(after or "{}")
        except ValueError:  # somebody changed it; the chain shows that
            details = {}
        lines.append((seq, at, details if isinstance(details, dict) else {}))
    return lines


def line_of_sink(conn: sqlite3.Connection, sink: str) -> int:
    """The number of the line whose head a sink took last; 0: none."""
    return int(meta.get(conn, f"{_TAKEN} {sink}") or 0)


def note_line_of_sink(conn: sqlite3.Connection, sink: str, line: int) -> None:
    """A sink has taken the head of a line."""
    meta.put(conn, f"{_TAKEN} {sink}", str(line))
