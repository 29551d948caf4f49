"""The answer that was given for an idempotency key, byte for byte."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from risala.dataclass import dataclass
from risala.engine.journal.state import CREATED, find_key
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.names import name_sql
from risala.engine.journal.store.sql import rows_of_values, value_of
from risala.engine.model.answers import answer, message_of_own_key, own_key
from risala.engine.model.numbers import MODES


@dataclass(frozen=True, slots=True)
class _Answered:
    """The values in the answer."""

    id: str
    client_key: str | None
    sender: str
    notice: str | None


_ROWS: Final = Rows(_Answered, {"sender": name_sql("sender")})
_OF: Final = (
    f"SELECT {_ROWS.columns} FROM message"  # noqa: S608 -- a constant
    " WHERE organization = (SELECT no FROM organizations WHERE id = ?) AND mode = ?"
)
_USED: Final = (
    "SELECT asked.column3 FROM ({values}) asked CROSS JOIN message m ON m.organization ="
    " (SELECT no FROM organizations WHERE id = asked.column1)"
    " AND m.mode = asked.column2 AND m.client_key = asked.column3"
)
_BY_CLIENT_KEY: Final = f"{_OF} AND client_key = ?"
# A code's SMS has no key from us: its id was never given to anybody.
_BY_OWN_KEY: Final = f"{_OF} AND key = ? AND client_key IS NULL AND kind = 0"


def accepted_at(
    conn: sqlite3.Connection, organization_id: str, mode: str, client_key: str
) -> int | None:
    """When the message with this key was accepted, UTC epoch milliseconds; None: there is none."""
    created_at: int | None = value_of(
        conn,
        f"SELECT {CREATED} FROM message"  # noqa: S608 -- a constant
        " WHERE organization = (SELECT no FROM organizations WHERE id = ?) AND mode = ?"
        " AND client_key = ?",
        (organization_id, MODES.number(mode), client_key),
    )
    return created_at


def used_keys(
    conn: sqlite3.Connection, organization_id: str, mode: str, keys: Sequence[str]
) -> set[str]:
    """The keys that may have an answer: :func:`known_answer` has it, if there is one.

    One statement reads them: one for each key would release the interpreter each time.
    """
    number = MODES.number(mode)
    values = [(organization_id, number, key) for key in keys]
    used = {key for (key,) in rows_of_values(conn, _USED, 3, values)}
    return used | {key for key in keys if message_of_own_key(key) is not None}


def known_answer(
    conn: sqlite3.Connection, organization_id: str, mode: str, key: str
) -> bytes | None:
    """The answer of the message that was accepted with this key; None: no message has it."""
    number = MODES.number(mode)
    row = conn.execute(_BY_CLIENT_KEY, (organization_id, number, key)).fetchone()
    if row is None and (message_id := message_of_own_key(key)) is not None:
        message_key = find_key(conn, message_id)
        if message_key is not None:
            row = conn.execute(_BY_OWN_KEY, (organization_id, number, message_key)).fetchone()
    if row is None:
        return None
    accepted = _ROWS.of(row)
    client_key = accepted.client_key or own_key(accepted.id)
    return answer(accepted.id, client_key, organization_id, accepted.sender, accepted.notice)
