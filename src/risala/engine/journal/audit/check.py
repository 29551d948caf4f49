"""Proof that no line of the audit trail was changed, removed or put in since it was written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.audit import heads
from risala.engine.journal.store import audit_log
from risala.engine.journal.store.schema.audit import TRIGGERS
from risala.engine.journal.store.sql import value_of
from risala.engine.rules.trail.chain import COLUMNS, HASH, ChainEnd, ChainWalk
from risala.engine.rules.trail.heads import Head

_GUARDS: Final = "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?"
_COLUMNS: Final = f"{', '.join(COLUMNS)}, {HASH}"
_LINES: Final = f"SELECT {_COLUMNS} FROM audit_log ORDER BY seq"  # noqa: S608 -- constants
_SINCE: Final = f"SELECT {_COLUMNS} FROM audit_log WHERE seq > ? ORDER BY seq"  # noqa: S608 -- constants
_HASH: Final = "SELECT hash FROM audit_log WHERE seq = ?"
FAULTS_MAX: Final = 5
"""Faults that :func:`check_since` returns: they are for the log."""


@dataclass(frozen=True, slots=True)
class TrailReport:
    """What a check of the trail found."""

    end: ChainEnd
    """The last line."""
    lines: int
    faults: tuple[str, ...]


def check(conn: sqlite3.Connection, faults_max: int) -> TrailReport:
    """Go along all lines; time grows with them, memory does not.

    Args:
        faults_max: faults that are kept: a forged trail would otherwise be printed in full.
    """
    faults, walk = [*_unguarded(conn)], ChainWalk()
    former, conn.text_factory = conn.text_factory, _text
    try:
        for each in walk.faults(conn.execute(_LINES), audit_log.noted_end(conn)):
            if len(faults) < faults_max:
                faults.append(each)
    except sqlite3.OperationalError as error:
        if "no such" not in str(error):
            raise
        faults.append(f"audit trail: {error}")
    finally:
        conn.text_factory = former
    return TrailReport(walk.end, walk.lines, tuple(faults))


def check_since(conn: sqlite3.Connection, last: Head | None) -> tuple[str, ...]:
    """The faults of the lines since a head of ours, or of all lines if it does not fit.

    Args:
        last: the newest head; None: none went out yet.
    """
    end = None if last is None else last.end
    if end is None or value_of(conn, _HASH, (end.seq,)) != end.hash:
        faults = check(conn, FAULTS_MAX).faults
        mine = () if last is None else (last,)
        return (*faults, *heads.compare(conn, mine, FAULTS_MAX).faults)
    rows = conn.execute(_SINCE, (end.seq,))
    return (
        *_unguarded(conn),
        *islice(ChainWalk(end).faults(rows, audit_log.noted_end(conn)), FAULTS_MAX),
    )


def _text(octets: bytes) -> str:
    """Texts as they are, whatever somebody wrote into them."""
    return octets.decode("utf-8", "surrogateescape")


def _unguarded(conn: sqlite3.Connection) -> Iterator[str]:
    """Triggers of the table that are not as the migrations made them."""
    expected = dict(_triggers())
    guards = {name: _plain(sql) for name, sql in conn.execute(_GUARDS, (audit_log.TABLE,))}
    for name, sql in expected.items():
        if name not in guards:
            yield f"audit trail: the trigger {name}, which refuses changes, is missing"
        elif guards[name] != sql:
            yield f"audit trail: the trigger {name}, which refuses changes, was changed"
    for name in sorted(guards.keys() - expected.keys()):
        yield f"audit trail: the trigger {name} is not Risala's"


def _triggers() -> Iterator[tuple[str, str]]:
    for each in TRIGGERS.split("CREATE TRIGGER ")[1:]:
        body = each.partition("END;")[0]
        yield body.split()[0], _plain(f"CREATE TRIGGER {body}END")


def _plain(sql: str) -> str:
    return " ".join(sql.split())
