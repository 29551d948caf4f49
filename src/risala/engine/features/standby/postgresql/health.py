"""What `risala doctor` finds at the standby's PostgreSQL."""

from __future__ import annotations

import time
from functools import partial
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.standby.lease import LeaseMemory
from risala.engine.features.standby.postgresql.session import (
    Connection,
    PostgresqlRefused,
    PostgresqlSession,
)
from risala.engine.features.standby.postgresql.tables import VERSION
from risala.engine.model.findings import Finding, Grade

NAME: Final = "standby"
_MEBIBYTE: Final = 1024 * 1024
CLOCK_WARN_S: Final = 2.0
"""Machines that follow a time server differ by milliseconds; a second may be a slow answer's."""

_ROOM: Final = """
SELECT coalesce(sum(pg_total_relation_size(relid)), 0) FROM pg_catalog.pg_statio_user_tables
WHERE schemaname = 'risala_standby'
"""
_LEASE: Final = """
SELECT epoch, holder, machine, released, until < clock_timestamp()
FROM risala_standby.lease WHERE installation = %s
"""


@dataclass(frozen=True, slots=True)
class _Examined:
    server: str
    answer_ms: float
    room_bytes: int
    unsafe: tuple[str, ...]
    """Settings of the server by which it forgets what it said it had."""
    lease: tuple[int, str, str, bool, bool] | None
    clock_s: float
    """How far the server's clock is ahead of the one here."""


def findings(session: PostgresqlSession, mine: LeaseMemory, *, running: bool) -> list[Finding]:
    """Whether it can be reached and used, how much room it takes, and who holds the lease.

    Args:
        mine: the lease that this machine remembers.
        running: the service runs here.
    """
    try:
        examined = session.run(partial(_examine, installation=session.installation))
    except PostgresqlRefused as error:
        text = f"{error} Until it answers again, nothing reaches the standby."
        return [Finding(NAME, Grade.FAIL, text)]
    finally:
        session.close()
    text = (
        f"PostgreSQL {examined.server} at {session.address} answers in {examined.answer_ms:.1f} ms."
        f" The standby's tables (version {VERSION}) take {examined.room_bytes / _MEBIBYTE:.1f} MiB."
    )
    results = [Finding(NAME, Grade.OK, text)]
    if examined.unsafe:
        text = (
            f"PostgreSQL at {session.address} has {' and '.join(examined.unsafe)}: after a power "
            f"cut it may have forgotten pieces, or who holds the lease. Turn it on."
        )
        results.append(Finding(NAME, Grade.WARN, text))
    if abs(examined.clock_s) > CLOCK_WARN_S:
        results.append(Finding(NAME, Grade.WARN, _of_clock(examined.clock_s, session.address)))
    return [*results, *_of_lease(examined, mine, running=running)]


def _examine(conn: Connection, installation: str) -> _Examined:
    began_s = time.monotonic()
    conn.execute("SELECT 1").fetchone()
    answer_ms = (time.monotonic() - began_s) * 1000
    before_s = time.time()
    server_s = float(str(_value(conn, "SELECT extract(epoch FROM clock_timestamp())")))
    clock_s = server_s - (before_s + time.time()) / 2
    names = ("fsync", "synchronous_commit", "full_page_writes")
    unsafe = [name for name in names if _value(conn, f"SHOW {name}") == "off"]
    row = conn.execute(_LEASE, (installation,)).fetchone()
    room = room_bytes(conn)
    server = str(_value(conn, "SHOW server_version"))
    lease = None
    if row is not None:
        epoch, holder, machine, is_released, is_over = row
        lease = (epoch, holder, machine, is_released, is_over)
    off = tuple(f"{name} = off" for name in unsafe)
    return _Examined(server, answer_ms, room, off, lease, clock_s)


def room_bytes(conn: Connection) -> int:
    """What the standby's tables take, of all installations."""
    return int(str(_value(conn, _ROOM)))


def _value(conn: Connection, query: str) -> object:
    row = conn.execute(query.encode()).fetchone()
    if row is None:
        return None
    (value,) = row
    return value


def _of_clock(ahead_s: float, address: str) -> str:
    which = "ahead of" if ahead_s > 0 else "behind"
    return (
        f"The clock of PostgreSQL at {address} is {abs(ahead_s):.0f} s {which} the one here. The "
        f"lease does not need them to agree, but times that people read would be wrong. Let both "
        f"machines follow a time server."
    )


def _of_lease(examined: _Examined, mine: LeaseMemory, *, running: bool) -> list[Finding]:
    if examined.lease is None:
        if not running:
            return []
        return [Finding(NAME, Grade.FAIL, "The service runs, and nobody holds the lease there.")]
    epoch, holder, machine, is_released, is_over = examined.lease
    if running and (epoch, holder) != (mine.epoch, mine.holder):
        text = f"{machine} holds the lease, number {epoch}: the service here has to end."
        return [Finding(NAME, Grade.FAIL, text)]
    state = "gave it back" if is_released else "has not renewed it" if is_over else "renews it"
    text = f"The lease has number {epoch}; {machine} {state}."
    return [Finding(NAME, Grade.WARN if running and is_over else Grade.OK, text)]
