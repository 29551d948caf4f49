"""Accepting messages: charge, store, remember the answer — all of it or nothing.

One message is a batch of one. A batch is one unit of work, so that all that it accepts is durable
at once, but its items stand alone: one that cannot be paid does not spoil the others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.accounts import senders, spending
from risala.engine.journal.messages.reads import known_response
from risala.engine.journal.rows import Entered, NewMessage, Stamp
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Forbidden, InsufficientBalance, Refusal, SpendCapReached

_MESSAGE: Final = (
    "INSERT INTO messages (id, organization_id, mode, kind, recipient, sender, body, encoding,"
    " segments, price, currency, metadata, status, priority, route, due_at, valid_until, send_at,"
    " created_at, updated_at, verification_id)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?)"
)
_CHARGE: Final = (
    "INSERT INTO ledger (organization_id, kind, amount, balance_after, reference, at)"
    " VALUES (?, 'charge', ?, ?, ?, ?)"
)
_IDEMPOTENCY: Final = (
    "INSERT INTO idempotency (organization_id, mode, key, message_id, response, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
_TIMELINE: Final = (
    "INSERT INTO timeline (message_id, n, at, status, text, kind, details)"
    " VALUES (?, 1, ?, 'pending', '', ?, ?)"
)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What became of a unit's messages."""

    results: Sequence[bytes | Refusal]
    """For each, in order, the response to give, its own or the earlier one of the same key; or why
    it was refused."""
    entered: Entered | None
    """The last of the charges; None: nothing was charged."""
    id: str | None
    """Of the first message that is new; None: none is."""


def accept(
    conn: sqlite3.Connection, items: Sequence[NewMessage], stamp: Stamp | None = None
) -> Acceptance:
    """Accept what can be accepted, of one organization and mode, in the given order.

    ``stamp`` is given where the organization has senders that wait for volume.
    """
    first = items[0]
    live = first.mode == "live"
    status, before, *caps = conn.execute(
        "SELECT status, balance, spend_cap, owner_spend_cap FROM organizations WHERE id = ?",
        (first.organization_id,),
    ).fetchone()
    days = spending.Days(conn, first.organization_id, caps)
    balance = before
    results: list[bytes | Refusal] = []
    taken: list[NewMessage] = []
    charges: list[tuple[object, ...]] = []
    given: dict[str, bytes] = {}
    for item in items:
        known = given.get(item.idempotency_key)
        if known is None and not item.key_is_ours:
            known = known_response(conn, item.organization_id, item.mode, item.idempotency_key)
        if known is not None:
            results.append(known)
        elif status != "active":
            results.append(Forbidden("The organization is not active."))
        # A positive balance is needed even where the price is zero.
        elif live and (balance <= 0 or balance < item.price):
            results.append(InsufficientBalance())
        elif live and not days.have_room(item):
            results.append(SpendCapReached())
        else:
            days.charge(item)
            balance -= item.price
            charges.append((item.organization_id, -item.price, balance, item.id, item.created_at))
            given[item.idempotency_key] = item.response
            taken.append(item)
            results.append(item.response)
    if taken:
        _store(conn, taken)
    entered = None
    if taken and live:
        if len(charges) > 1:
            conn.executemany(_CHARGE, charges[:-1])
        seq = conn.execute(_CHARGE, charges[-1]).lastrowid or 0
        entered = Entered(first.organization_id, seq, balance)
        conn.execute(
            "UPDATE organizations SET balance = ? WHERE id = ?", (balance, first.organization_id)
        )
        days.write()
        _count(conn, taken, stamp)
        if balance < taken[-1].low_balance <= before:
            outbox.balance_event(conn, taken[-1], balance)
    return Acceptance(results, entered, taken[0].id if taken else None)


def accept_one(conn: sqlite3.Connection, item: NewMessage, stamp: Stamp | None) -> Acceptance:
    """:func:`accept` for a single message.

    Raises:
        InsufficientBalance: the balance does not cover the price.
        Forbidden: the organization is not active.
    """
    accepted = accept(conn, (item,), stamp)
    (result,) = accepted.results
    if isinstance(result, Refusal):
        raise result
    return accepted


def _store(conn: sqlite3.Connection, taken: Sequence[NewMessage]) -> None:
    conn.executemany(
        _MESSAGE,
        [
            (
                *(new.id, new.organization_id, new.mode, new.kind, new.recipient, new.sender),
                *(new.body, new.encoding, new.segments, new.price, new.currency, new.metadata),
                *(new.priority, new.route, new.due_at, new.valid_until, new.send_at),
                *(new.created_at, new.created_at, new.verification_id),
            )
            for new in taken
        ],
    )
    conn.executemany(
        _IDEMPOTENCY,
        [
            (
                *(new.organization_id, new.mode, new.idempotency_key),
                *(new.id, new.response, new.created_at),
            )
            for new in taken
            if new.kind == "sms"
        ],
    )
    conn.executemany(
        _TIMELINE,
        [(new.id, new.created_at, new.line.kind.value, new.line.details) for new in taken],
    )


def _count(conn: sqlite3.Connection, taken: Sequence[NewMessage], stamp: Stamp | None) -> None:
    """Count the organization's volume; a sender that waited for it is approved by itself."""
    first = taken[0]
    conn.execute(
        "INSERT INTO accepted_hours (organization_id, hour, messages) VALUES (?, ?, ?)"
        " ON CONFLICT (organization_id, hour) DO UPDATE SET messages = messages +"
        " excluded.messages",
        (first.organization_id, first.created_at // senders.HOUR_MS, len(taken)),
    )
    if stamp is not None:
        senders.approve_by_volume(conn, first.organization_id, stamp)
