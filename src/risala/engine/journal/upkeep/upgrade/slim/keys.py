"""The keys of former messages: the first 63 bits of their ids, if those are free.

Their ids had 15 random bits where a counter is now, and the messages of a batch share their
millisecond: some have the same first 63 bits. The later one gets the next free key, and a row in
``remapped`` by which the id is found.

Messages that still wait keep their order: they leave in the order of their keys, so within a
millisecond each gets a greater key than those accepted before it.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from risala.engine.journal.store import meta
from risala.engine.journal.store.sql import markers
from risala.engine.model.ids import key_ms, key_of

WAITING_PLACE: Final = "upgrade.waiting"
"""In ``meta`` during the move: the millisecond and the key of the last waiting message."""


class KeyGiver:
    """Gives keys to the messages of one step, in the order of their acceptance."""

    def __init__(self, conn: sqlite3.Connection, ids: list[str]) -> None:
        self._conn = conn
        natural = [key for key in map(key_of, ids) if key is not None]
        rows = conn.execute(
            f"SELECT key FROM message WHERE key IN ({markers(natural)})",  # noqa: S608 -- places
            natural,
        )
        self._taken = {key for (key,) in rows}
        self._given: set[int] = set()
        place = (meta.get(conn, WAITING_PLACE) or "0 0").split()
        self._waiting_ms, self._waiting_key = int(place[0]), int(place[1])
        self.remapped: list[tuple[str, int]] = []

    def give(self, message_id: str, created_at: int, *, waits: bool) -> int:
        """The key of the next message; ``waits``: it is still to be sent."""
        natural = key_of(message_id)
        # A foreign id can only have come by hand; it is found too.
        least = created_at << 15 if natural is None else natural
        if waits:
            ms = key_ms(least)
            if ms == self._waiting_ms:
                least = max(least, self._waiting_key + 1)
        is_free = least == natural and least not in self._taken and least not in self._given
        key = least if is_free else self._next_free(least)
        if waits:
            self._waiting_ms, self._waiting_key = key_ms(least), key
        self._given.add(key)
        if key != natural:
            self.remapped.append((message_id, key))
        return key

    def write(self) -> None:
        """Store what the next step needs."""
        self._conn.executemany("INSERT INTO remapped (id, key) VALUES (?, ?)", self.remapped)
        meta.put(self._conn, WAITING_PLACE, f"{self._waiting_ms} {self._waiting_key}")

    def _next_free(self, key: int) -> int:
        """The first key from this one on that no message has."""
        taken = self._conn.execute("SELECT key FROM message WHERE key >= ? ORDER BY key", (key,))
        taken_keys = (one for (one,) in taken)
        at = next(taken_keys, None)
        while True:
            while at is not None and at < key:
                at = next(taken_keys, None)
            if key not in self._given and at != key:
                return key
            key += 1
