"""What PostgreSQL refuses, as a sentence that says what to do.

libpq hands on no code for a connection that failed, only the words. What is unknown here is quoted.
"""

from __future__ import annotations

from typing import Final

import psycopg

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
    said = str(error)
    if 'database "' in said and "does not exist" in said:
        return f"PostgreSQL at {address}: there is no such database. Create it with createdb."
    for parts, meaning in _KNOWN:
        if any(part in said for part in parts):
            return f"PostgreSQL at {address} {meaning}"
    first = next((line.strip() for line in said.splitlines() if line.strip()), "no reason")
    return f"PostgreSQL at {address} refuses: {first.rstrip('.')}."
