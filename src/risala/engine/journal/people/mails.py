"""The queue of mails: a row is owed until it is settled, so that no crash loses one.

A row has the kind of mail, the recipient and the language; the text is composed when it leaves,
with codes: no code is stored here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

from risala.dataclass import dataclass
from risala.engine.journal.people import members, users
from risala.engine.journal.store import meta
from risala.engine.journal.store.named import BrokenRow, Rows
from risala.engine.journal.store.repository import Store, command, read
from risala.engine.journal.store.tables import table, writable
from risala.engine.model.people import Language
from risala.engine.model.people_records import (
    MailKind,
    MailOutcome,
    MailQueueStatus,
    NewMail,
    OwedMail,
)
from risala.engine.model.records.upkeep.service import MailsWaiting
from risala.engine.model.records.webhooks import BEHIND_COUNTED_MAX

KEPT_MS: Final = 7 * 86_400_000
"""How long a mail's result is kept."""
LOW_BALANCE_EVERY_MS: Final = 86_400_000
LOOKED_AT_MAX: Final = 2000
"""Owed mails among which turns are given: some milliseconds, and only while so many are owed."""
LASTS_MS: Final = 3 * 86_400_000
"""A mail that is not sent by then is outdated; codes and invitations have their own times."""

_TABLE: Final = "mails"


_OWED: Final = Rows(OwedMail, kind=MailKind, language=Language, details=json.loads)


def owe(
    conn: sqlite3.Connection, new: NewMail, now_ms: int, *, outcome: MailOutcome | None = None
) -> None:
    """Owe a mail, in the unit that causes it.

    Args:
        outcome: set if it must not be sent.
    """
    useless_at = now_ms + LASTS_MS if new.useless_at is None else new.useless_at
    writable(conn, _TABLE).insert(
        {
            "kind": new.kind.value,
            "recipient": new.recipient,
            "language": new.language.value,
            "details": json.dumps(new.details, ensure_ascii=False),
            "due_at": now_ms,
            "tries": 0,
            "useless_at": useless_at,
            "created_at": now_ms,
            "settled_at": None if outcome is None else now_ms,
            "outcome": None if outcome is None else outcome.value,
        }
    )


def owe_head(
    conn: sqlite3.Connection, head: str, line: int, operator: str | None, now_ms: int
) -> None:
    """Owe operators a signed head of the audit trail.

    Args:
        head: as it goes out.
        line: the number of the line that it is of.
        operator: the address in the settings, in addition to those of operators.
    """
    for email, language in users.operators_and(conn, operator):
        details = {"head": head, "line": line}
        owe(conn, NewMail(MailKind.AUDIT_HEAD, email, language, details), now_ms)


def owe_owners(
    conn: sqlite3.Connection,
    organization_id: str,
    kind: MailKind,
    details: Mapping[str, Any],
    now_ms: int,
) -> list[str]:
    """Owe a mail to each owner, in their language; returns their addresses."""
    details = {**details, "organization": organization_id}
    owners = [users.user(conn, each) for each in members.owners(conn, organization_id)]
    for owner in owners:
        owe(conn, NewMail(kind, owner.email, owner.language, details), now_ms)
    return [owner.email for owner in owners]


def owe_low_balance(
    conn: sqlite3.Connection, organization_id: str, balance: int, now_ms: int
) -> None:
    """Owe the owners a notice that their balance is low, once a day at most.

    A balance near its limit goes below it with a charge, above it with a refund, and below again.
    """
    noted = f"low_balance_mail {organization_id}"
    last = meta.get(conn, noted)
    if last is not None and now_ms - int(last) < LOW_BALANCE_EVERY_MS:
        return
    details = {"balance": balance}
    if owe_owners(conn, organization_id, MailKind.LOW_BALANCE, details, now_ms):
        meta.put(conn, noted, str(now_ms))


_WHOSE: Final = (
    "coalesce(CASE WHEN json_valid(details) THEN details ->> '$.organization' END, recipient)"
)
_TURN: Final = (
    f"CASE WHEN due_at <= :now THEN row_number() OVER (PARTITION BY {_WHOSE}"
    " ORDER BY due_at > :now, due_at, seq) END"
)
_LOOKED_AT: Final = (
    f"seq IN (SELECT seq FROM {_TABLE} WHERE settled_at IS NULL ORDER BY due_at, seq LIMIT :most)"  # noqa: S608 -- constants
)


def first(
    conn: sqlite3.Connection, count: int, now_ms: int, broken: BrokenRow | None = None
) -> list[OwedMail]:
    """The mails that are sent next: first those that are due, in turns by :attr:`OwedMail.whose`,
    of each the oldest; then the others by when they are due. Of the :data:`LOOKED_AT_MAX` that are
    due first."""
    values = {"now": now_ms, "most": LOOKED_AT_MAX}
    order = f"due_at > :now, {_TURN}, due_at, seq"
    owed = table(conn, _TABLE)
    return _OWED.find(owed, _LOOKED_AT, values, order_by=order, limit=count, broken=broken)


def settle(conn: sqlite3.Connection, seq: int, outcome: MailOutcome, now_ms: int) -> None:
    """Record that a mail was sent, or will not be."""
    _change(conn, seq, {"settled_at": now_ms, "outcome": outcome.value})


def put_off(conn: sqlite3.Connection, seq: int, due_at: int, tries: int) -> None:
    """A mail is tried again later."""
    _change(conn, seq, {"due_at": due_at, "tries": tries})


def _change(conn: sqlite3.Connection, seq: int, values: dict[str, Any]) -> None:
    """Set columns of a mail; its row may be gone, if its reader was deleted."""
    stored = writable(conn, _TABLE)
    if stored.count_where("seq = ?", (seq,)):
        stored.update(seq, values)


def forget_settled(conn: sqlite3.Connection, now_ms: int) -> None:
    """Delete the results of last week's mails."""
    writable(conn, _TABLE).delete_where("settled_at <= ?", (now_ms - KEPT_MS,))


def queue_status(conn: sqlite3.Connection) -> MailQueueStatus:
    """The state of the queue; without problems in a file from before it existed."""
    stored = table(conn, _TABLE)
    if not stored.exists():
        return MailQueueStatus(0, 0, 0)
    outcome = "settled_at IS NOT NULL AND outcome = ?"
    return MailQueueStatus(
        stored.count_where("settled_at IS NULL AND tries > 0"),
        stored.count_where(outcome, (MailOutcome.GIVEN_UP.value,)),
        stored.count_where(outcome, (MailOutcome.NO_MAILER.value,)),
    )


def waiting(conn: sqlite3.Connection) -> MailsWaiting:
    """Mails that are owed, the first that are due."""
    waiting, failing, oldest = conn.execute(
        "SELECT count(*), coalesce(sum(tries > 0), 0), min(created_at) FROM"
        " (SELECT tries, created_at FROM mails INDEXED BY mails_due"
        " WHERE settled_at IS NULL ORDER BY due_at LIMIT ?)",
        (BEHIND_COUNTED_MAX,),
    ).fetchone()
    return MailsWaiting(waiting, failing, oldest)


# -- for the rest of the engine


@dataclass(frozen=True, slots=True)
class MailRepository:
    """Mails that are owed. All reads are by an index, on the loop's thread. Units of other
    repositories owe mails, each in the transaction that is the reason for it.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    due = read(first)
    status = read(queue_status)
    waiting = read(waiting)
    settle = command(settle)
    put_off = command(put_off)
    forget_settled = command(forget_settled)
