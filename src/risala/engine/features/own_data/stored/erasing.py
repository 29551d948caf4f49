"""Erases data about a number, or all of an organization: one small unit after the other.

Data that holds the ledger, the books and idempotency together stays: a message's row without its
text, its number and its metadata, a verification without its number, and the keys that messages
were sent with. Each unit stores its place in its own transaction, so that after a crash it
continues there. A unit reads only data from before the request: later data is not included.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Final

from risala.dataclass import dataclass
from risala.engine.features.own_data.records import (
    Cancelable,
    Erased,
    Erasure,
    ErasureStep,
    following,
)
from risala.engine.features.own_data.stored import erasures
from risala.engine.journal.messages.messages import OVER, empty
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.engine.journal.store.sql import value_of
from risala.engine.model.features import features
from risala.engine.model.ids import first_id
from risala.engine.model.numbers import FORGOTTEN

AT_ONCE: Final = 100
"""Rows that one unit erases: some milliseconds of the writer."""
LOOKED_AT: Final = 1000
"""Events, or writers of messages, that one unit reads."""
_AGAIN: Final = "again"
"""The place of :attr:`ErasureStep.CARRIERS` if a message was under way: once all have ended, the
steps are repeated. A place of :attr:`ErasureStep.MESSAGES` ends with it if it is behind such a
message, which may end before the next step looks."""
_ANY_MODE: Final = "mode IN ('live', 'test')"
"""Needed for the index by number, which has the mode before it."""
_NO: Final = "(SELECT no FROM organizations WHERE id = ?)"
_EVENT_OF_NUMBER: Final = (
    "(typeof(e.subject) = 'integer' AND EXISTS"
    " (SELECT 1 FROM message m WHERE m.key = e.subject AND m.recipient = :recipient)"
    " OR e.type BETWEEN 3 AND 5 AND EXISTS"
    " (SELECT 1 FROM verifications v WHERE v.id = e.subject AND v.recipient = :number)"
    " OR e.type IN (6, 12, 13, 14) AND json_extract(e.frozen, '$[1]') = :number"
    " OR e.body IS NOT NULL AND instr(e.body, :number) > 0)"
)
"""Events of a message to it, of a code to it, of a message from it, or of its conversation; or a
former event, which has it in its body. The types' numbers are those of ``model/numbers.py``."""


@dataclass(frozen=True, slots=True)
class _Stepped:
    gone: Mapping[str, int]
    place: str
    """The place in this step; in the next one if this is done."""
    done: bool


def take_out(conn: sqlite3.Connection, seen: Erasure, now_ms: int) -> Erased:
    """Do the next small piece of it, of any step but :attr:`ErasureStep.CODES` and ``PENDING``.

    Nothing is done if it is at another step than ``seen`` by now: a command and the service may
    both be at it.

    Raises:
        NotFound: the id is unknown.
    """
    erasure = erasures.find(conn, seen.id)
    if erasure.ended_at is not None or erasure.step is not seen.step:
        return Erased(erasure)
    if erasure.step is ErasureStep.CARRIERS:
        return _carriers(conn, erasure)
    stepped = _WORK[erasure.step](conn, erasure, now_ms)
    if not stepped.done:
        return Erased(erasures.note(conn, erasure, erasure.step, stepped.place, stepped.gone))
    if erasure.step is ErasureStep.REST:
        noted = erasures.note(conn, erasure, erasure.step, "", stepped.gone)
        return Erased(erasures.end(conn, noted, now_ms))
    step = following(erasure.step)
    return Erased(erasures.note(conn, erasure, step, stepped.place, stepped.gone))


def _carriers(conn: sqlite3.Connection, erasure: Erasure) -> Erased:
    """Wait for what is under way; then repeat all steps."""
    if _is_under_way(conn, erasure):
        if erasure.place != _AGAIN:
            erasure = erasures.note(conn, erasure, erasure.step, _AGAIN, {})
        return Erased(erasure, waits=True)
    waited = erasure.place == _AGAIN
    then = ErasureStep.EVENTS if waited else ErasureStep.REST
    return Erased(erasures.note(conn, erasure, then, "", {}))


def _is_under_way(conn: sqlite3.Connection, erasure: Erasure) -> bool:
    if erasure.last4 is None:
        statement = (
            f"SELECT 1 FROM message WHERE organization = {_NO}"  # noqa: S608 -- a constant
            " AND status IN (0, 1) AND status <> 3 LIMIT 1"
        )
        return value_of(conn, statement, (erasure.organization_id,)) is not None
    statement = (
        f"SELECT 1 FROM message WHERE recipient = ? AND organization = {_NO}"  # noqa: S608 -- a constant
        " AND key <= ? AND status IN (0, 1) LIMIT 1"
    )
    values = (erasure.recipient, erasure.organization_id, erasure.until_key)
    if value_of(conn, statement, values) is not None:
        return True
    whose = (erasure.organization_id, erasure.number)
    return any(each.awaited()(conn, *whose) for each in features() if each.awaited is not None)


# -- endings in the engine's usual ways


def open_sessions(conn: sqlite3.Connection, erasure: Erasure, limit: int) -> list[str]:
    """Pending verification sessions, from its place on."""
    values: dict[str, object] = {
        "organization": erasure.organization_id,
        "number": erasure.number,
        "after": erasure.place,
        "limit": limit,
    }
    whose = "" if erasure.number is None else f" AND recipient = :number AND {_ANY_MODE}"
    rows = conn.execute(
        "SELECT id FROM verifications WHERE organization_id = :organization"  # noqa: S608 -- constants
        f" AND status = 'pending' AND id > :after{whose} ORDER BY id LIMIT :limit",
        values,
    )
    return [session for (session,) in rows]


_CANCELABLE: Final = Rows(Cancelable)


def pending(conn: sqlite3.Connection, erasure: Erasure, limit: int) -> list[Cancelable]:
    """Messages that have not left, from its place on."""
    values: dict[str, object] = {
        "organization": erasure.organization_id,
        "after": int(erasure.place or 0),
        "until": erasure.until_key,
        "limit": limit,
    }
    whose = "status <> 3"  # the term of the index of messages that are not delivered
    if erasure.number is not None:
        whose, values["recipient"] = "recipient = :recipient", erasure.recipient
    rows = conn.execute(
        f"SELECT {_CANCELABLE.columns} FROM message WHERE {whose} AND status = 0"  # noqa: S608 -- constants
        " AND organization = (SELECT no FROM organizations WHERE id = :organization)"
        " AND key > :after AND key <= :until ORDER BY key LIMIT :limit",
        values,
    )
    return [_CANCELABLE.of(row) for row in rows]


# -- the steps


def _mailings(conn: sqlite3.Connection, erasure: Erasure, _: int) -> _Stepped:
    """What features have of it: rows of mailings, people on lists."""
    if erasure.number is None:
        return _clear(conn, erasure.organization_id)
    gone: dict[str, int] = {}
    for feature in features():
        if feature.erased is not None:
            work = feature.erased()
            gone |= work(conn, erasure.organization_id, erasure.number, AT_ONCE)
    return _Stepped(gone, "", max(gone.values(), default=0) < AT_ONCE)


def _clear(conn: sqlite3.Connection, organization_id: str) -> _Stepped:
    """Rows of what was deleted with an organization."""
    for feature in features():
        if feature.cleared is not None:
            cleared = feature.cleared()(conn, AT_ONCE, organization_id)
            if not cleared.done:
                return _Stepped({"mailing rows": cleared.rows}, "", done=False)
    return _Stepped({"mailing rows": 0}, "", done=True)


def _events(conn: sqlite3.Connection, erasure: Erasure, now_ms: int) -> _Stepped:
    after, until = int(erasure.place or 0), erasure.until_key
    last: int | None = value_of(
        conn,
        "SELECT max(key) FROM (SELECT key FROM event WHERE key > ? AND key <= ?"
        " ORDER BY key LIMIT ?)",
        (after, until, LOOKED_AT),
    )
    if last is None:
        return _Stepped({}, "", done=True)
    values: dict[str, object] = {
        "after": after,
        "last": last,
        "organization": erasure.organization_id,
        "limit": AT_ONCE,
    }
    whose = ""
    if erasure.number is not None:
        whose = f" AND {_EVENT_OF_NUMBER}"
        values |= {"recipient": erasure.recipient, "number": erasure.number}
    keys = [
        key
        for (key,) in conn.execute(
            "SELECT e.key FROM event e WHERE e.key > :after AND e.key <= :last AND e.organization ="  # noqa: S608 -- constants
            f" (SELECT no FROM organizations WHERE id = :organization){whose}"
            " ORDER BY e.key LIMIT :limit",
            values,
        )
    ]
    for key in keys:
        _take_event(conn, key, erasure.number, now_ms)
    place = keys[-1] if len(keys) == AT_ONCE else last
    return _Stepped({"events": len(keys)}, str(place), done=False)


def _take_event(conn: sqlite3.Connection, key: int, number: str | None, now_ms: int) -> None:
    """Erase an event, what is owed of it, and what was answered to it.

    The newest delivery stays, emptied: its number must not be given again, because the deliverer
    looks for numbers above the last one it knows.
    """
    newest = value_of(
        conn,
        "SELECT seq FROM webhook_delivery WHERE event = ?"
        " AND seq = (SELECT max(seq) FROM webhook_delivery)",
        (key,),
    )
    conn.execute(
        "DELETE FROM webhook_attempts WHERE delivery IN"
        " (SELECT seq FROM webhook_delivery WHERE event = ?)",
        (key,),
    )
    conn.execute(
        "DELETE FROM webhook_delivery WHERE event = ? AND seq IS NOT ?",
        (key, newest),
    )
    if newest is None:
        conn.execute("DELETE FROM event WHERE key = ?", (key,))
        return
    conn.execute(
        "UPDATE webhook_delivery SET excerpt = NULL, updated_at = ?,"
        " state = CASE state WHEN 'pending' THEN 'dropped' ELSE state END WHERE seq = ?",
        (now_ms, newest),
    )
    conn.execute(
        "UPDATE event SET body = CASE WHEN ? IS NULL THEN '{}' ELSE replace(body, ?, ?) END"
        " WHERE key = ? AND body IS NOT NULL",
        (number, number, FORGOTTEN, key),
    )
    conn.execute(
        "UPDATE event SET frozen = json_array(json_extract(frozen, '$[0]'), ?, NULL, '')"
        " WHERE key = ? AND type IN (6, 12, 13, 14)",
        (FORGOTTEN, key),
    )


def _inbound(conn: sqlite3.Connection, erasure: Erasure, _: int) -> _Stepped:
    # By the time it was stored: the time in a message is its carrier's.
    until = first_id("mo", erasure.created_at + 1)
    whose, values = "", [erasure.organization_id]
    if erasure.number is not None:
        whose, values = " AND sender = ?", [erasure.organization_id, erasure.number]
    gone = conn.execute(
        "DELETE FROM inbound WHERE id IN (SELECT id FROM inbound WHERE organization_id = ?"  # noqa: S608 -- constants
        f" AND id < ?{whose} LIMIT ?)",
        (values[0], until, *values[1:], AT_ONCE),
    ).rowcount
    return _Stepped({"inbound": gone}, "", done=gone < AT_ONCE)


def _sessions(conn: sqlite3.Connection, erasure: Erasure, _: int) -> _Stepped:
    mode, at, row = (erasure.place or "live -1 -1").split()
    values: dict[str, object] = {
        "organization": erasure.organization_id,
        "mode": mode,
        "at": int(at),
        "row": int(row),
        "until": erasure.created_at,
        "number": erasure.number,
        "limit": AT_ONCE,
    }
    whose = "" if erasure.number is None else " AND recipient = :number"
    rows = conn.execute(
        "SELECT created_at, rowid FROM verifications"  # noqa: S608 -- constants
        f" WHERE organization_id = :organization AND mode = :mode{whose}"
        " AND (created_at, rowid) > (:at, :row) AND created_at <= :until"
        " ORDER BY created_at, rowid LIMIT :limit",
        values,
    ).fetchall()
    conn.executemany(
        "UPDATE verifications SET recipient = ? WHERE rowid = ?",
        [(FORGOTTEN, row) for _, row in rows],
    )
    gone = {"verifications": len(rows)}
    if len(rows) == AT_ONCE:
        created_at, row = rows[-1]
        return _Stepped(gone, f"{mode} {created_at} {row}", done=False)
    if mode == "live":
        return _Stepped(gone, "test -1 -1", done=False)
    return _Stepped(gone, "", done=True)


def _messages(conn: sqlite3.Connection, erasure: Erasure, _: int) -> _Stepped:
    """Erase text, number and metadata of ended messages, and carriers' repetitions of them."""
    after, _space, again = erasure.place.partition(" ")
    whose, values = "", []
    if erasure.number is not None:
        whose, values = "recipient = ? AND ", [erasure.recipient]
    rows = conn.execute(
        f"SELECT key, status, recipient = '{FORGOTTEN}' FROM message WHERE {whose}"  # noqa: S608 -- constants
        f"organization = {_NO} AND key > ? AND key <= ? ORDER BY key LIMIT ?",
        (
            *(*values, erasure.organization_id),
            *(int(after or 0), erasure.until_key, AT_ONCE),
        ),
    ).fetchall()
    going = [key for key, status, is_out in rows if status >= OVER and not is_out]
    empty(conn, going)
    if any(status < OVER for _, status, _ in rows):
        again = _AGAIN
    gone = {"messages": len(going)}
    if len(rows) < AT_ONCE:
        return _Stepped(gone, again, done=True)
    last = max(key for key, _, _ in rows)
    return _Stepped(gone, f"{last} {again}".rstrip(), done=False)


def _rest(conn: sqlite3.Connection, erasure: Erasure, now_ms: int) -> _Stepped:
    """The last writers to a number, and rows of mailings that were being read meanwhile. For an
    organization also its opt-outs.

    A number's own opt-outs stay: without them messages would come again.
    """
    if erasure.number is not None:
        stepped = _mailings(conn, erasure, now_ms)
        if not stepped.done:
            return stepped
        conn.execute(
            "DELETE FROM last_writers WHERE recipient = ? AND organization_id = ?",
            (erasure.number, erasure.organization_id),
        )
        return stepped
    gone = conn.execute(
        "DELETE FROM opt_outs WHERE organization_id = ?1 AND recipient IN"
        " (SELECT recipient FROM opt_outs WHERE organization_id = ?1 LIMIT ?2)",
        (erasure.organization_id, AT_ONCE),
    ).rowcount
    if gone == AT_ONCE:
        return _Stepped({"opt-outs": gone}, erasure.place, done=False)
    last: str | None = value_of(
        conn,
        "SELECT max(recipient) FROM (SELECT recipient FROM last_writers WHERE recipient > ?"
        " ORDER BY recipient LIMIT ?)",
        (erasure.place, LOOKED_AT),
    )
    if last is None:
        return _Stepped({"opt-outs": gone}, "", done=True)
    conn.execute(
        "DELETE FROM last_writers WHERE recipient > ? AND recipient <= ? AND organization_id = ?",
        (erasure.place, last, erasure.organization_id),
    )
    return _Stepped({"opt-outs": gone}, last, done=False)


_WORK: Final[Mapping[ErasureStep, Callable[[sqlite3.Connection, Erasure, int], _Stepped]]] = {
    ErasureStep.EVENTS: _events,
    ErasureStep.INBOUND: _inbound,
    ErasureStep.SESSIONS: _sessions,
    ErasureStep.MESSAGES: _messages,
    ErasureStep.REST: _rest,
    ErasureStep.MAILINGS: _mailings,
}


@dataclass(frozen=True, slots=True)
class ErasureRepository:
    """Erasures, and what they take out in small steps. All reads are on the loop's thread: by an
    index, and of a bounded number of rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    find = read(erasures.find)
    under_way = read(erasures.under_way)
    of_organization = read(erasures.of_organization)
    of_number = read(erasures.of_number)
    open_sessions = read(open_sessions)
    pending = read(pending)

    # -- commands

    begin = audited_command(erasures.begin)
    delete_organization = audited_command(erasures.delete_organization)
    take_out = command(take_out)
    note = command(erasures.note_own)
