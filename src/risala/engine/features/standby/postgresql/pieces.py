"""Pieces, whole copies and signed heads of the audit trail as rows of PostgreSQL.

Each statement that writes a piece or a copy looks, and holds with a lock, whether the lease still
is the writer's: so PostgreSQL fences whoever lost it, and no clock is needed for that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psycopg

from risala.engine.features.standby.lease import LeaseMemory
from risala.engine.features.standby.postgresql.session import Connection, PostgresqlSession
from risala.engine.features.standby.stored.notes import BadPiece, checked
from risala.engine.features.standby.stored.piece_store import Fenced, Spoilt, write_whole
from risala.engine.features.standby.stored.pieces import (
    STORED_BYTES_MAX,
    Current,
    EncodedPiece,
    PagePiece,
    Shipped,
    current_in,
    decode,
)
from risala.engine.journal.upkeep import database_copy
from risala.engine.rules.trail.heads import Head

CHUNK_BYTES: Final = 1024 * 1024
"""A whole copy is sent in parts of this size: one of them is in memory at a time."""
CHANNEL: Final = "risala_standby"
"""Whoever follows listens here; what is said is the installation."""

_HELD: Final = """
WITH held AS (
    SELECT epoch FROM risala_standby.lease
    WHERE installation = %(installation)s AND epoch = %(epoch)s AND holder = %(holder)s
    FOR KEY SHARE
)
"""
"""No row for whoever does not hold the lease; a takeover waits until the statement is done."""
_BEGIN: Final = """
INSERT INTO risala_standby.generation (installation, name, epoch)
SELECT %(installation)s, %(generation)s, epoch FROM held
RETURNING 1
"""
_CHUNK: Final = """
INSERT INTO risala_standby.chunk (installation, generation, number, data)
SELECT %(installation)s, %(generation)s, %(number)s, %(data)s FROM held
RETURNING 1
"""
_ADD: Final = """
, added AS (
    INSERT INTO risala_standby.piece
        (installation, generation, number, epoch, at, before, sha256, data)
    SELECT %(installation)s, %(generation)s, %(number)s, epoch, %(at)s, %(before)s, %(sha256)s,
        %(data)s
    FROM held
    WHERE %(number)s = 1 OR EXISTS (
        SELECT 1 FROM risala_standby.piece
        WHERE installation = %(installation)s AND generation = %(generation)s
            AND number = %(number)s - 1 AND sha256 = %(before)s
    )
    RETURNING 1
), noted AS (
    UPDATE risala_standby.shipped SET number = %(number)s, at = %(at)s
    FROM added WHERE installation = %(installation)s AND generation = %(generation)s
    RETURNING 1
)
SELECT 1 FROM added
"""
"""A server that a failover has brought may lack the piece before: then this one is of no use. What
was shipped is counted in the same statement: a piece that is lost later is missed."""
_PUBLISH: Final = """
INSERT INTO risala_standby.shipped (installation, generation, sha256, number, at, awaited)
SELECT %(installation)s, %(generation)s, %(sha256)s, %(number)s, %(at)s, %(awaited)s FROM held
ON CONFLICT (installation) DO UPDATE SET
    generation = excluded.generation, sha256 = excluded.sha256, number = excluded.number,
    at = excluded.at, awaited = excluded.awaited
RETURNING pg_notify(%(channel)s, %(installation)s)
"""
_NOTE: Final = """
UPDATE risala_standby.shipped SET number = %(number)s, at = %(at)s
FROM held WHERE installation = %(installation)s AND generation = %(generation)s
    AND EXISTS (
        SELECT 1 FROM risala_standby.piece
        WHERE installation = %(installation)s AND generation = %(generation)s
            AND number = %(number)s
    )
RETURNING pg_notify(%(channel)s, %(installation)s)
"""
"""The note of what was shipped, made again so that a server that has lost pieces is noticed though
nothing is written."""
_AWAITED: Final = """
, marked AS (
    UPDATE risala_standby.shipped SET awaited = %(awaited)s
    FROM held WHERE installation = %(installation)s
    RETURNING 1
)
SELECT 1 FROM held
"""
"""Before the first whole copy there is nothing to mark."""
_TIDY: Final = """
DELETE FROM risala_standby.generation USING held
WHERE installation = %(installation)s AND name NOT IN (
    SELECT generation FROM risala_standby.shipped WHERE installation = %(installation)s
)
RETURNING 1
"""
_MINE: Final = "SELECT 1 FROM held"
_IS_THERE: Final = """
SELECT 1 FROM risala_standby.generation WHERE installation = %(installation)s AND name = %(name)s
"""
_HAS_PIECE: Final = """
SELECT 1 FROM risala_standby.piece
WHERE installation = %(installation)s AND generation = %(name)s AND number = %(number)s
"""
_SAME: Final = """
SELECT sha256 FROM risala_standby.piece
WHERE installation = %(installation)s AND generation = %(name)s AND number = %(number)s
"""
_IS_AWAITED: Final = """
SELECT awaited FROM risala_standby.shipped
WHERE installation = %(installation)s AND generation = %(name)s
"""
_LAST: Final = """
SELECT coalesce(max(number), 0) FROM risala_standby.piece
WHERE installation = %(installation)s AND generation = %(name)s
"""
_SHIPPED: Final = """
SELECT generation, sha256, number, at FROM risala_standby.shipped
WHERE installation = %(installation)s
"""
_READ_CHUNK: Final = """
SELECT CASE WHEN octet_length(data) <= %(bytes_max)s THEN data END FROM risala_standby.chunk
WHERE installation = %(installation)s AND generation = %(name)s AND number = %(number)s
"""
_READ: Final = """
SELECT CASE WHEN octet_length(data) <= %(bytes_max)s THEN data END FROM risala_standby.piece
WHERE installation = %(installation)s AND generation = %(name)s AND number = %(number)s
"""


class PostgresqlPieces:
    """A :class:`~risala.engine.features.standby.stored.piece_store.PieceStore`."""

    def __init__(
        self,
        session: PostgresqlSession,
        listening: PostgresqlSession,
        mine: Callable[[], LeaseMemory],
    ) -> None:
        """``listening`` is a connection of its own, which waits for what is new. ``mine`` is the
        lease that this machine holds, by its own memory."""
        self._session = session
        self._listening = listening
        self._mine = mine

    def __str__(self) -> str:
        return f"PostgreSQL at {self._session.address}, installation {self._session.installation}"

    def begin(self, generation: str, database: Path) -> tuple[str, int]:
        # The remains of an unpublished attempt would keep the room for ever.
        self._write(_TIDY, {}, may_be_none=True)
        whole = database.with_name(f"{database.name}.shipping")
        database_copy.remove(whole)
        try:
            sha256, size = write_whole(database, whole)
            self._write(_BEGIN, {"generation": generation})
            with open(whole, "rb") as file:
                number = 0
                while data := file.read(CHUNK_BYTES):
                    parameters = {"generation": generation, "number": number, "data": data}
                    self._write(_CHUNK, parameters)
                    number += 1
        finally:
            database_copy.remove(whole)
        return sha256, size

    def add(self, piece: EncodedPiece) -> None:
        parameters = {name: getattr(piece, name) for name in EncodedPiece.__slots__}
        self._write(_ADD, parameters)

    def has(self, piece: EncodedPiece) -> bool:
        row = self._one(_SAME, name=piece.generation, number=piece.number)
        if row is None:
            return False
        if row != (piece.sha256,):
            raise Spoilt(f"{self} has another piece of the number {piece.number}.")
        # It is visible even if the server was told not to wait for its replica: a later commit that
        # has waited shows that the replica has it too.
        self.note(Shipped(piece.generation, piece.number, piece.at))
        return True

    def publish(self, current: Current, shipped: Shipped, *, awaited: bool = False) -> None:
        parameters = {"sha256": current.sha256, "number": shipped.number, "at": shipped.at}
        parameters["awaited"] = awaited
        self._write(_PUBLISH, {**parameters, "generation": current.generation, "channel": CHANNEL})
        with suppress(OSError):  # the next generation tidies too
            self._write(_TIDY, {}, may_be_none=True)

    def note(self, shipped: Shipped) -> None:
        parameters = {"number": shipped.number, "at": shipped.at, "channel": CHANNEL}
        self._write(_NOTE, {**parameters, "generation": shipped.generation})

    def mark_awaited(self, *, awaited: bool) -> None:
        self._write(_AWAITED, {"awaited": awaited})

    def is_awaited(self, generation: str) -> bool:
        return self._one(_IS_AWAITED, name=generation) == (True,)

    def is_spoilt(self, generation: str, number: int) -> bool:
        if self._one(_IS_THERE, name=generation) is None:
            return True
        return self._one(_HAS_PIECE, name=generation, number=number) is not None

    def current(self) -> Current | None:
        row = self._one(_SHIPPED)
        if row is None:
            return None
        generation, sha256, _, _ = row
        note = {"generation": generation, "sha256": sha256}
        return current_in(note, f"The note of what was shipped in {self}")

    def shipped(self) -> Shipped | None:
        row = self._one(_SHIPPED)
        if row is None:
            return None
        generation, _, number, at = row
        note = {"generation": generation, "number": number, "at": at}
        return checked(Shipped, note, f"The note of what was shipped in {self}")

    def fetch(self, current: Current, target: Path, progress: database_copy.Progress) -> None:
        number = 0
        with open(target, "wb") as file:
            parameters = {"name": current.generation, "bytes_max": CHUNK_BYTES}
            while row := self._one(_READ_CHUNK, **parameters, number=number):
                (data,) = row
                if data is None:
                    raise BadPiece(f"Part {number} of the whole copy in {self} is too large.")
                file.write(data)
                number += 1
                progress("copying", number, 0)
        if self._one(_IS_THERE, name=current.generation) is None:
            raise OSError("The whole copy has ended while it was read. Its successor is next.")

    def read(self, generation: str, number: int, last: str) -> PagePiece | None:
        row = self._one(_READ, name=generation, number=number, bytes_max=STORED_BYTES_MAX)
        if row is None:
            return None
        (data,) = row
        name = f"Piece {number} in {self}"
        if data is None:
            raise BadPiece(f"{name} is damaged: it is too large.")
        return decode(data, name, generation, number, last)

    def last(self, generation: str) -> int:
        row = self._one(_LAST, name=generation)
        assert row is not None  # an aggregate has a row
        (number,) = row
        return int(number)

    def wait(self, span_s: float) -> None:
        """A pooler may not hand on what is said: so nobody waits for longer than ``span_s``."""
        try:
            self._listening.run(lambda conn: _hear(conn, span_s))
        except OSError:
            time.sleep(span_s)

    def _write(
        self, statement: str, parameters: Mapping[str, object], *, may_be_none: bool = False
    ) -> None:
        """Run a statement that does nothing for whoever does not hold the lease.

        Args:
            may_be_none: it may find nothing to do.
        """
        mine = self._mine()
        all_given = {
            "installation": self._session.installation,
            "epoch": mine.epoch,
            "holder": mine.holder,
            **parameters,
        }
        query = f"{_HELD}{statement}".encode()

        def work(conn: Connection) -> bool:
            return conn.execute(query, all_given).fetchone() is not None

        # Not again: it is for the shipper to find out whether it was done.
        if self._session.run(work, again=False) or may_be_none:
            return
        is_mine = f"{_HELD}{_MINE}".encode()
        if self._session.run(lambda conn: conn.execute(is_mine, all_given).fetchone()) is not None:
            raise Spoilt(f"{self} no longer has what was shipped. It begins again.")
        raise Fenced(
            f"Another machine has taken the lease {mine.epoch}: PostgreSQL takes nothing more from "
            f"this one."
        )

    def _one(self, query: str, **parameters: object) -> tuple[Any, ...] | None:
        all_given = {"installation": self._session.installation, **parameters}
        return self._session.run(lambda conn: conn.execute(query.encode(), all_given).fetchone())


def _hear(conn: psycopg.Connection[tuple[Any, ...]], span_s: float) -> None:
    for _ in conn.notifies(timeout=span_s, stop_after=1):
        pass


_LAST_HEAD: Final = "SELECT coalesce(max(line), 0) FROM risala_standby.head WHERE installation = %s"
_ADD_HEAD: Final = """
INSERT INTO risala_standby.head (installation, line, text) VALUES (%s, %s, %s)
ON CONFLICT (installation, line) DO NOTHING
"""
"""A head that is there stays as it is, whatever is sent later."""


def add_missing_heads(session: PostgresqlSession, heads: Sequence[Head]) -> None:
    """Add the heads that are newer than those of this installation. It asks for no lease: whoever
    serves has signed them.

    Raises:
        OSError: PostgreSQL refuses.
    """

    def work(conn: Connection) -> None:
        [(last,)] = conn.execute(_LAST_HEAD, (session.installation,)).fetchall()
        for head in heads:
            if head.end.seq > last:
                conn.execute(_ADD_HEAD, (session.installation, head.end.seq, head.text))

    session.run(work)
