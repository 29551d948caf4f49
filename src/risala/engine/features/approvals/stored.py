"""Requests that wait for a second operator, and the sums of what each operator did alone.

A request is confirmed in the transaction of what it asks for (:func:`settle`, called where that
writes its line of the audit trail): it is done once, or it still waits.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.features.approvals.records import ApprovalState, StoredApproval
from risala.engine.features.approvals.rules import (
    DAY_MS,
    PENDING_EACH_MAX,
    PENDING_MAX,
    is_asker,
    needs_second,
)
from risala.engine.journal.people import mails, users
from risala.engine.journal.store import audit_log
from risala.engine.journal.store.named import Rows, columns_of
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.audit import AuditEntry
from risala.engine.model.callers import OperatorRole
from risala.engine.model.errors import Conflict
from risala.engine.model.people_records import MailKind, NewMail

KEPT_MS: Final = 90 * DAY_MS
"""How long decided requests are kept; the audit trail keeps their lines."""
DECIDED_SHOWN: Final = 20
"""Decided requests in the list: the latest that people talk about."""
SUMS_DAYS: Final = 7
"""Days for which sums are kept; today's is the only one that counts."""
DECIDED: Final = "This request is already decided, or its time is over."
ASKED_BEFORE: Final = "The same is already asked for: it waits for another operator."
TOO_MANY: Final = "Too many requests are waiting. Decide some of them first."

_TABLE: Final = "approvals"
_SUMS: Final = "alone_sums"
_STORED: Final = Rows(StoredApproval, arguments=json.loads, seen=json.loads, state=ApprovalState)
_PENDING: Final = "state = 'pending' AND expires_at > ?"


def approval(conn: sqlite3.Connection, approval_id: str) -> StoredApproval:
    """One request.

    Raises:
        NotFound: the id is unknown.
    """
    return _STORED.one(table(conn, _TABLE), approval_id, "There is no request {}.")


def waiting(conn: sqlite3.Connection, now_ms: int) -> list[StoredApproval]:
    """Requests that wait, the oldest first."""
    return _STORED.find(table(conn, _TABLE), _PENDING, (now_ms,), order_by="asked_at, id")


def decided(conn: sqlite3.Connection) -> list[StoredApproval]:
    """The last decided ones, the newest first."""
    return _STORED.find(
        table(conn, _TABLE),
        "state <> 'pending'",
        order_by="decided_at DESC, id DESC",
        limit=DECIDED_SHOWN,
    )


def count_waiting(conn: sqlite3.Connection, now_ms: int) -> int:
    """How many wait: never more than :data:`PENDING_MAX`."""
    return table(conn, _TABLE).count_where(_PENDING, (now_ms,))


def alone_today(conn: sqlite3.Connection, who: str, day: int) -> int:
    """What an operator did alone on a day, in minor units."""
    rows = list(table(conn, _SUMS).rows_where("who = ? AND day = ?", (who, day)))
    return int(rows[0]["amount"]) if rows else 0


def take_alone(conn: sqlite3.Connection, new: StoredApproval, limit: int) -> bool:
    """Count something against what its operator may do alone today; False: a second one must
    confirm it, and nothing is counted."""
    day = new.asked_at // DAY_MS
    if needs_second(limit, alone_today(conn, new.asked_key, day), new.amount):
        return False
    writable(conn, _SUMS).delete_where("day < ?", (day - SUMS_DAYS,))
    _count(conn, new.asked_key, day, new.amount or 0)
    return True


def give_back(conn: sqlite3.Connection, new: StoredApproval) -> None:
    """What was counted was not done."""
    _count(conn, new.asked_key, new.asked_at // DAY_MS, -(new.amount or 0))


def _count(conn: sqlite3.Connection, who: str, day: int, amount: int) -> None:
    total = alone_today(conn, who, day) + amount
    writable(conn, _SUMS).upsert({"who": who, "day": day, "amount": total}, pk=("who", "day"))


def ask(
    conn: sqlite3.Connection, by: AuditEntry, new: StoredApproval, roles: Iterable[OperatorRole]
) -> None:
    """Store a request with its line of the trail, and owe a mail to the others who may confirm it.

    Args:
        roles: those who may do what is asked for.

    Raises:
        Conflict: the same waits already, or too many do.
    """
    stored, packed = writable(conn, _TABLE), _packed(new.arguments)
    same = f"{_PENDING} AND kind = ? AND arguments = ?"
    if stored.count_where(same, (new.asked_at, new.kind, packed)):
        raise Conflict(ASKED_BEFORE)
    mine = stored.count_where(f"{_PENDING} AND asked_key = ?", (new.asked_at, new.asked_key))
    if mine >= PENDING_EACH_MAX or count_waiting(conn, new.asked_at) >= PENDING_MAX:
        raise Conflict(TOO_MANY)
    _forget(conn, new.asked_at)
    stored.insert(columns_of({**asdict(new), "arguments": packed, "seen": _packed(new.seen)}))
    role_names = {each.value for each in roles}
    for operator in users.operators(conn):
        role = operator.operator_role
        if role is None or role.value not in role_names or operator.id == new.asked_key:
            continue
        kind, details = MailKind.APPROVAL_ASKED, {"approval": new.id}
        mail = NewMail(kind, operator.email, operator.language, details, new.expires_at)
        mails.owe(conn, mail, new.asked_at)
    audit_log.write(conn, by)


def settle(conn: sqlite3.Connection, by: AuditEntry, approval_id: str) -> None:
    """Confirm the request that an entry is of, in the transaction of what it asks for.

    Raises:
        Conflict: it is decided already, or its time is over; nothing is done then.
    """
    current = approval(conn, approval_id)
    if current.state_at(by.at) is not ApprovalState.PENDING:
        raise Conflict(DECIDED)
    if by.alone is None and is_asker(by.caller, current.asked_key, current.asked_by):
        raise Conflict("Somebody else must confirm it.")
    _decide(conn, by, current.id, ApprovalState.CONFIRMED, by.alone)


def refuse(
    conn: sqlite3.Connection, by: AuditEntry, approval_id: str, why: str | None
) -> StoredApproval:
    """Refuse a request, or withdraw one's own, with its line of the trail.

    Raises:
        NotFound: the id is unknown.
        Conflict: it is decided already, or its time is over.
    """
    current = approval(conn, approval_id)
    if current.state_at(by.at) is not ApprovalState.PENDING:
        raise Conflict(DECIDED)
    _decide(conn, by, approval_id, ApprovalState.REFUSED, why)
    audit_log.write(conn, by)
    return approval(conn, approval_id)


def _decide(
    conn: sqlite3.Connection,
    by: AuditEntry,
    approval_id: str,
    state: ApprovalState,
    why: str | None,
) -> None:
    values = {"state": state.value, "decided_by": by.caller.who, "decided_at": by.at, "why": why}
    writable(conn, _TABLE).update(approval_id, values)


def _forget(conn: sqlite3.Connection, now_ms: int) -> None:
    """Delete requests that were decided, or expired, long ago."""
    stored = writable(conn, _TABLE)
    stored.delete_where("state <> 'pending' AND decided_at < ?", (now_ms - KEPT_MS,))
    stored.delete_where("state = 'pending' AND expires_at < ?", (now_ms - KEPT_MS,))


def _packed(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class ApprovalRepository:
    """Requests of operators that wait or were decided. All reads are by an index, of a bounded
    number of rows.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    approval = read(approval)
    waiting = read(waiting)
    decided = read(decided)

    take_alone = command(take_alone)
    give_back = command(give_back)
    ask = command(ask)
    refuse = command(refuse)
