"""The lease as a row of PostgreSQL.

Each change of the row is one statement, which PostgreSQL does wholly or not at all: to renew is to
change the row if it is still ours, and to take is to give it a higher number.
"""

from __future__ import annotations

import socket
from dataclasses import asdict, fields, replace
from typing import Any, Final

from psycopg.errors import UniqueViolation

from risala.engine.features.standby.lease import EPOCH_MAX, LeaseLost, LeaseTaken, SendLease
from risala.engine.features.standby.postgresql.session import Connection, PostgresqlSession
from risala.engine.features.standby.stored.notes import checked

_NAMES: Final = tuple(each.name for each in fields(SendLease))
_COLUMNS: Final = ", ".join(_NAMES)
_HIGHEST: Final = f"SELECT {_COLUMNS} FROM risala_standby.lease WHERE installation = %s"  # noqa: S608 -- names of ours
_FORMER: Final = "SELECT former FROM risala_standby.lease WHERE installation = %s AND epoch = %s"
_TAKE: Final = f"""
INSERT INTO risala_standby.lease AS held (installation, {_COLUMNS}, until)
VALUES (%(installation)s, {", ".join(f"%({name})s" for name in _NAMES)},
    clock_timestamp() + %(term_s)s * interval '1 second')
ON CONFLICT (installation) DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _NAMES)}, until = excluded.until,
    former = to_jsonb(held) - 'installation' - 'until' - 'former'
WHERE held.epoch < excluded.epoch
RETURNING epoch
"""  # noqa: S608 -- names of ours
_RENEW: Final = """
UPDATE risala_standby.lease SET count = %(count)s, at = %(at)s, entries = %(entries)s,
    released = %(released)s, until = clock_timestamp() + term_s * interval '1 second'
WHERE installation = %(installation)s AND epoch = %(epoch)s AND holder = %(holder)s
RETURNING epoch
"""
_MEND: Final = f"""
UPDATE risala_standby.lease SET {", ".join(f"{name} = %({name})s" for name in _NAMES)},
    until = clock_timestamp()
WHERE installation = %(installation)s AND lease.epoch > %(highest)s
RETURNING epoch
"""  # noqa: S608 -- names of ours


class PostgresqlLease:
    """A :class:`~risala.engine.features.standby.lease.LeaseStore`."""

    settles_s = 0.0
    """What is committed is seen by the next statement."""

    def __init__(self, session: PostgresqlSession) -> None:
        self._session = session

    def __str__(self) -> str:
        return f"PostgreSQL at {self._session.address}"

    def highest(self) -> SendLease | None:
        parameters = (self._session.installation,)
        # Not again: after a failover somebody who watches has to know that it may be another server
        # that answers now.
        row = self._session.run(lambda conn: _row(conn, _HIGHEST, parameters), again=False)
        if row is None:
            return None
        return checked(SendLease, dict(zip(_NAMES, row, strict=True)), f"The lease in {self}")

    def before(self, lease: SendLease) -> SendLease | None:
        parameters = (self._session.installation, lease.epoch)
        row = self._session.run(lambda conn: _row(conn, _FORMER, parameters))
        if row is None:
            return None
        (former,) = row  # a dict, as psycopg hands on what is JSON
        return None if former is None else checked(SendLease, former, f"The former lease in {self}")

    def last_right(self) -> SendLease | None:
        lease = self.highest()
        if lease is not None and lease.epoch > EPOCH_MAX:
            lease = self.before(lease)
        return None if lease is None or lease.epoch > EPOCH_MAX else lease

    def mend(self, lease: SendLease) -> None:
        parameters = {**self._given(lease), "highest": EPOCH_MAX}
        self._session.run(lambda conn: _row(conn, _MEND, parameters))

    def take(self, holder: str, term_s: int, entries: int, at: int, epoch: int) -> SendLease:
        lease = SendLease(epoch, holder, socket.gethostname(), term_s, 0, at, entries)
        # Once more after a fault: if the first attempt had succeeded, it is found to be ours.
        if self._session.run(lambda conn: _try_to_take(conn, self._given(lease))) is None:
            highest = self.highest()
            if highest is None or (highest.epoch, highest.holder) != (epoch, holder):
                raise LeaseTaken(lease if highest is None else highest)
        return lease

    def renew(
        self, lease: SendLease, entries: int, at: int, *, released: bool = False
    ) -> SendLease:
        lease = replace(lease, count=lease.count + 1, entries=entries, at=at, released=released)
        if self._session.run(lambda conn: _row(conn, _RENEW, self._given(lease))) is None:
            highest = self.highest()
            if highest is None or highest.epoch < lease.epoch:
                raise LeaseLost(
                    f"{self} no longer has the lease {lease.epoch}. Check that it is the same "
                    f"database, and not an older backup of it."
                )
            raise LeaseTaken(highest)
        return lease

    def _given(self, lease: SendLease) -> dict[str, Any]:
        return {**asdict(lease), "installation": self._session.installation}


def _try_to_take(conn: Connection, parameters: Any) -> tuple[Any, ...] | None:  # noqa: ANN401 -- parameters
    try:
        return _row(conn, _TAKE, parameters)
    except UniqueViolation:
        # Two that take the first lease at the same instant may meet at the table's second key,
        # for which there is no ON CONFLICT: the other one was first.
        return None


def _row(conn: Connection, query: str, parameters: Any) -> tuple[Any, ...] | None:  # noqa: ANN401 -- any parameters
    return conn.execute(query.encode(), parameters).fetchone()
