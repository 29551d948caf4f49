"""The signed heads of the audit trail, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from risala.engine.rules.trail.heads import Head
from risala.engine.upkeep.standby.postgresql.session import Connection, PostgresqlSession

_LAST: Final = "SELECT coalesce(max(line), 0) FROM risala_standby.head WHERE installation = %s"
_ADD: Final = """
INSERT INTO risala_standby.head (installation, line, text) VALUES (%s, %s, %s)
ON CONFLICT (installation, line) DO NOTHING
"""
"""A head that is there stays as it is, whatever is sent later."""


def add_missing(session: PostgresqlSession, heads: Sequence[Head]) -> None:
    """Add the heads that are newer than those of this installation. It asks for no lease: whoever
    serves has signed them.

    Raises:
        OSError: PostgreSQL refuses.
    """

    def work(conn: Connection) -> None:
        [(last,)] = conn.execute(_LAST, (session.installation,)).fetchall()
        for head in heads:
            if head.end.seq > last:
                conn.execute(_ADD, (session.installation, head.end.seq, head.text))

    session.run(work)
