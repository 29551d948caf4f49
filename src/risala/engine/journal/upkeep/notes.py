"""What drivers must not forget: a few words per carrier, by key.

Quota counts, a refused PIN, parts of a long message that were acknowledged. The engine does not
read them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from risala.plugins.contract import NOTE_KEY_CHARACTERS_MAX, NOTE_TEXT_CHARACTERS_MAX, NOTES_MAX


class TooManyNotes(Exception):
    """The carrier has :data:`NOTES_MAX` already."""


def check(notes: Mapping[str, str | None]) -> None:
    """Raises ValueError for a key or a text that is too long."""
    for key, text in notes.items():
        if not 0 < len(key) <= NOTE_KEY_CHARACTERS_MAX:
            raise ValueError(f"a note's key has 1 to {NOTE_KEY_CHARACTERS_MAX} characters")
        if text is not None and len(text) > NOTE_TEXT_CHARACTERS_MAX:
            raise ValueError(f"a note has at most {NOTE_TEXT_CHARACTERS_MAX} characters")


def remember(
    conn: sqlite3.Connection, carrier: str, notes: Mapping[str, str | None], now_ms: int
) -> None:
    """Write notes, and strike those whose text is None.

    Raises:
        TooManyNotes: none of them was written, once the unit is rolled back.
    """
    forget(conn, carrier, (key for key, text in notes.items() if text is None))
    rows = [(carrier, key, text, now_ms) for key, text in notes.items() if text is not None]
    if not rows:
        return
    conn.executemany(
        "INSERT INTO carrier_notes (carrier, key, text, updated_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at",
        rows,
    )
    count = conn.execute(
        "SELECT count(*) FROM carrier_notes WHERE carrier = ?", (carrier,)
    ).fetchone()
    if count[0] > NOTES_MAX:
        raise TooManyNotes


def forget(conn: sqlite3.Connection, carrier: str, keys: Iterable[str]) -> None:
    """Strike notes; those that are not there do not matter."""
    conn.executemany(
        "DELETE FROM carrier_notes WHERE carrier = ? AND key = ?", [(carrier, key) for key in keys]
    )


def recall(conn: sqlite3.Connection, carrier: str, prefix: str) -> dict[str, str]:
    """The notes whose keys begin so, by key."""
    rows = conn.execute(
        "SELECT key, text FROM carrier_notes WHERE carrier = ?1 AND key >= ?2"
        " AND substr(key, 1, length(?2)) = ?2 ORDER BY key",
        (carrier, prefix),
    )
    return dict(rows.fetchall())
