"""A verification session's row, and how it moves: for what ends sessions and what ends codes."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.rows import Stamp
from risala.engine.journal.store.named import Rows
from risala.engine.journal.webhooks import outbox
from risala.engine.rules.verification import TABLE, Session, State, Trigger


@dataclass(frozen=True, slots=True)
class VerificationRow:
    id: str
    organization_id: str
    mode: str
    recipient: str
    status: State
    reason: str | None
    attempts: int
    attempts_max: int
    code_length: int
    message_id: str
    expires_at: int
    created_at: int
    updated_at: int

    @property
    def session(self) -> Session:
        return Session(self.status, self.attempts, self.attempts_max, self.expires_at)


_ROWS: Final = Rows(VerificationRow, status=State)
_FIND: Final = f"SELECT {_ROWS.columns} FROM verifications WHERE id = ?"  # noqa: S608 -- a constant


def find(conn: sqlite3.Connection, verification_id: str) -> VerificationRow | None:
    row = conn.execute(_FIND, (verification_id,)).fetchone()
    return None if row is None else _ROWS.of(row)


def shift(
    conn: sqlite3.Connection, row: VerificationRow, trigger: Trigger, stamp: Stamp
) -> State | None:
    """Let a trigger do to a session what the table says, and tell of it; its new state, if any."""
    step = TABLE.get((row.status, trigger))
    if step is None or step.to is row.status:
        return None
    conn.execute(
        "UPDATE verifications SET status = ?, reason = ?, updated_at = ? WHERE id = ?",
        (step.to, step.reason, stamp.now_ms, row.id),
    )
    if step.event is not None:
        outbox.verification_event(conn, row.id, step.event, stamp)
    return step.to
