"""The services that messages came through, as they are stored: a row of each message that another
Risala passed on, until it has left or ended."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final

from risala.dataclass import dataclass
from risala.engine.journal.messages.messages import OVER
from risala.engine.journal.state import find_key
from risala.engine.journal.store import meta
from risala.engine.journal.store.repository import Store, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.feature_work import Forgot, RetentionWalk
from risala.engine.model.records.messages import Acceptance

if TYPE_CHECKING:
    from risala.engine.journal.repositories import Repositories

OWN: Final = "hops.own"
"""The key of the service's own id. It is in the file since the table is: a restart and the second
machine find it."""
_TABLE: Final = "message_hops"
_IS_OVER: Final = "EXISTS (SELECT 1 FROM message WHERE key = message_hops.message AND status >= ?)"


def own(conn: sqlite3.Connection) -> str:
    """What other services know this one by."""
    return meta.get(conn, OWN) or ""


def came_through(conn: sqlite3.Connection, message_id: str) -> tuple[str, ...]:
    """The services that a message came through; none: a customer sent it here."""
    key = find_key(conn, message_id)
    rows = [] if key is None else [*table(conn, _TABLE).rows_where("message = ?", (key,))]
    return tuple(rows[0]["hops"].split(",")) if rows else ()


def _storing(hops: Sequence[str], unit: Unit[Acceptance]) -> Unit[Acceptance]:
    def accept(conn: sqlite3.Connection) -> Acceptance:
        accepted = unit(conn)
        if accepted.id is not None:  # else its key was known: they were stored then
            values = {"message": find_key(conn, accepted.id), "hops": ",".join(hops)}
            writable(conn, _TABLE).insert(values)
        return accepted

    return accept


def erase(conn: sqlite3.Connection, messages: Collection[int]) -> None:
    """Delete what there is of messages, by their keys."""
    going = json.dumps([*messages])
    writable(conn, _TABLE).delete_where("message IN (SELECT value FROM json_each(?))", (going,))


def walk_over(
    conn: sqlite3.Connection, _walk: RetentionWalk, _before_ms: int, limit: int
) -> Forgot:
    """Delete rows of messages that nobody sends any more, whatever their age. Those of an
    organization that is deleted go with its messages (:func:`erase`)."""
    over = table(conn, _TABLE).rows_where(_IS_OVER, (OVER,), select="message", limit=limit)
    going = [row["message"] for row in over]
    erase(conn, going)
    return Forgot(len(going), "", done=len(going) < limit)


@dataclass(frozen=True, slots=True)
class HopRepository:
    """The services that messages came through. All reads are by an index, on the loop's thread."""

    @staticmethod
    def storing(hops: Sequence[str], unit: Unit[Acceptance]) -> Unit[Acceptance]:
        """The unit that accepts a message, which then also stores what it came through."""
        return _storing(hops, unit)

    _store: Store

    own = read(own)
    came_through = read(came_through)


def through(repositories: Repositories, message_id: str) -> tuple[str, ...]:
    """The services that a message came through, and this one as the last."""
    stored = repositories.part(HopRepository)
    return *stored.came_through(message_id), stored.own()
