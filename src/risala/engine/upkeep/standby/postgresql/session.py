"""One connection to PostgreSQL, made when it is needed, and made again after a fault."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from risala.engine.upkeep.standby.postgresql.sentences import sentence
from risala.engine.upkeep.standby.postgresql.tables import check

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]

_DEFAULTS: Final = {
    "connect_timeout": "5",
    "fallback_application_name": "risala standby",
    # After a failover, a replica that still answers is not the one to write to.
    "target_session_attrs": "read-write",
    # A machine that is cut off is noticed within a third of the shortest usual lease.
    "keepalives_idle": "3",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""What the address may say otherwise; seconds, and milliseconds of the last."""


class PostgresqlRefused(OSError):
    """PostgreSQL cannot be reached, or refuses; ``str()`` is the sentence. It is tried again."""


class WrongAddress(Exception):
    """What the settings give is no address of PostgreSQL."""


class PostgresqlSession:
    """Each call waits for PostgreSQL: call it in a thread. Calls wait for each other."""

    def __init__(
        self, url: str, installation: str, *, checks: bool = True, begin: str | None = None
    ) -> None:
        """``checks``: a new connection checks the tables. ``begin`` is run on each new one.

        Raises:
            WrongAddress: libpq cannot read the address. The reason is left out, since it may quote
                the password.
        """
        self._connection: Connection | None = None
        try:
            given = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise WrongAddress from None
        self._conninfo = make_conninfo(url, **{**_DEFAULTS, **given})
        self.installation = installation
        self.address = f"{given.get('host') or 'its socket'}, database {given.get('dbname') or '?'}"
        self._checks, self._begin = checks, begin
        self._lock = threading.Lock()

    def run(self, work: Callable[[Connection], T], *, again: bool = True) -> T:
        """What ``work`` returns. Its statements are transactions of their own.

        Args:
            again: a connection that had ended meanwhile, as after a restart, is made again, and the
                work done once more. Not for what must not be done twice.

        Raises:
            PostgresqlRefused: one sentence says why.
        """
        with self._lock:
            is_new = self._connection is None
            try:
                return work(self._connected())
            except psycopg.Error as error:
                ended = self._connection is None or self._connection.closed
                self._drop()
                if is_new or not again or not ended:
                    raise self._refused(error) from error
            try:
                return work(self._connected())
            except psycopg.Error as error:
                self._drop()
                raise self._refused(error) from error

    def close(self) -> None:
        with self._lock:
            self._drop()

    def __del__(self) -> None:
        """Its owner has gone: the connection goes with it."""
        self._drop()

    def _refused(self, error: psycopg.Error) -> PostgresqlRefused:
        return PostgresqlRefused(sentence(error, self.address))

    def _connected(self) -> Connection:
        if self._connection is None:
            # A pooler gives each transaction another connection: statements that are prepared in
            # one of them are not there in the next.
            # A database that was made without a locale has SQL_ASCII: psycopg gives its texts as
            # bytes, unless it is told what they are.
            found = psycopg.connect(
                self._conninfo, autocommit=True, prepare_threshold=None, client_encoding="UTF8"
            )
            try:
                if self._checks:
                    fault = check(found)
                    if fault is not None:
                        raise PostgresqlRefused(fault)
                if self._begin is not None:
                    found.execute(self._begin.encode())
            except BaseException:
                found.close()
                raise
            self._connection = found
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None
