"""Notes of drivers: a few words per carrier, by key.

Quota counts, a refused PIN, parts of a long message that were acknowledged. The engine does not
read them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from risala.engine.journal.store.tables import table, writable
from risala.engine.model.records.carriers.stored import TooManyNotes
from risala.plugins.contract import NOTE_KEY_CHARACTERS_MAX, NOTE_TEXT_CHARACTERS_MAX, NOTES_MAX


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
    """Write notes, and delete those whose text is None.

    Raises:
        TooManyNotes: none of them was written, once the unit is rolled back.
    """
    forget(conn, carrier, (key for key, text in notes.items() if text is None))
    rows = [
        {"carrier": carrier, "key": key, "text": text, "updated_at": now_ms}
        for key, text in notes.items()
        if text is not None
    ]
    if not rows:
        return
    stored = writable(conn, "carrier_notes")
    stored.upsert_all(rows)
    if stored.count_where("carrier = ?", (carrier,)) > NOTES_MAX:
        raise TooManyNotes


def forget(conn: sqlite3.Connection, carrier: str, keys: Iterable[str]) -> None:
    """Delete notes; missing ones do not matter."""
    stored = writable(conn, "carrier_notes")
    for key in keys:
        stored.delete_where("carrier = ? AND key = ?", (carrier, key))


def recall(conn: sqlite3.Connection, carrier: str, prefix: str) -> dict[str, str]:
    """The notes whose keys have this prefix, by key."""
    rows = table(conn, "carrier_notes").rows_where(
        "carrier = :carrier AND key >= :prefix AND substr(key, 1, length(:prefix)) = :prefix",
        {"carrier": carrier, "prefix": prefix},
        order_by="key",
    )
    return {row["key"]: row["text"] for row in rows}
