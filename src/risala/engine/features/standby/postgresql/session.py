"""One connection to PostgreSQL, made when it is needed, and made again after a fault.

What it refuses becomes a sentence that says what to do. libpq hands on no code for a connection
that failed, only the words; what is unknown here is quoted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from risala.engine.features.standby.postgresql.tables import check

_KNOWN: Final = (
    (
        ("password authentication failed", "no password supplied"),
        "refuses the user or the password. Correct the address that the settings name.",
    ),
    (
        ("pg_hba.conf",),
        "does not let this machine in. Add a line for it to pg_hba.conf there.",
    ),
    (
        ("too many clients", "too many connections", "remaining connection slots"),
        "has no connection left. Risala needs three: raise max_connections, or use a pooler.",
    ),
    (
        ("starting up", "shutting down", "recovery mode", "terminating connection"),
        "is starting or stopping.",
    ),
    (
        ("session is read-only", "is in hot standby", "session is not read-write", "read-only"),
        "takes no writes: it is a replica. After a failover, name the new primary, or both hosts.",
    ),
    (
        ("could not translate host name", "Name or service not known", "resolve host"),
        "is not found by its name. Check the name, and this machine's DNS.",
    ),
    (
        ("Connection refused", "No such file or directory"),
        "does not run, or listens elsewhere.",
    ),
    (
        ("timeout expired", "timed out", "Connection timed out", "No route to host"),
        "does not answer. Check the network between the two machines.",
    ),
    (
        ("certificate", "SSL error"),
        "has a certificate that this machine does not trust, or the other way round.",
    ),
    (
        ("closed the connection", "connection is lost", "Connection reset", "connection is closed"),
        "has ended the connection.",
    ),
    (
        ("No space left", "could not extend file", "disk full"),
        "has no room left on its disk.",
    ),
    (
        ("permission denied",),
        "does not let this user at the tables. Run `risala standby init` as their owner, or "
        "grant the rights.",
    ),
)
"""Parts of what is said, and what it means."""


def sentence(error: psycopg.Error, address: str) -> str:
    """The error in one sentence or two, without the address's password.

    Args:
        address: the host and the database.
    """
    message = str(error)
    if 'database "' in message and "does not exist" in message:
        return f"PostgreSQL at {address}: there is no such database. Create it with createdb."
    for parts, meaning in _KNOWN:
        if any(part in message for part in parts):
            return f"PostgreSQL at {address} {meaning}"
    first = next((line.strip() for line in message.splitlines() if line.strip()), "no reason")
    return f"PostgreSQL at {address} refuses: {first.rstrip('.')}."


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
            parts = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise WrongAddress from None
        self._conninfo = make_conninfo(url, **{**_DEFAULTS, **parts})
        self.installation = installation
        self.address = f"{parts.get('host') or 'its socket'}, database {parts.get('dbname') or '?'}"
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
        """Close the connection: the session's owner has gone."""
        self._drop()

    def _refused(self, error: psycopg.Error) -> PostgresqlRefused:
        return PostgresqlRefused(sentence(error, self.address))

    def _connected(self) -> Connection:
        if self._connection is None:
            # A pooler gives each transaction another connection: statements that are prepared in
            # one of them are not there in the next.
            # A database that was made without a locale has SQL_ASCII: psycopg gives its texts as
            # bytes, unless it is told what they are.
            connection = psycopg.connect(
                self._conninfo, autocommit=True, prepare_threshold=None, client_encoding="UTF8"
            )
            try:
                if self._checks:
                    fault = check(connection)
                    if fault is not None:
                        raise PostgresqlRefused(fault)
                if self._begin is not None:
                    connection.execute(self._begin.encode())
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None
