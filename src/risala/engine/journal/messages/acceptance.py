"""Accepting messages: charge, store, remember the answer — all of it or nothing.

A *request* is one message, or a batch. A batch is one unit of work, so that all that it accepts is
durable at once, but its items stand alone: one that cannot be paid does not spoil the others. What
is stored is the same, and takes as few statements, when many requests come in one unit.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from risala.engine.journal.accounts import ledger, senders, spending
from risala.engine.journal.accounts.ledger import Charge
from risala.engine.journal.messages import counts
from risala.engine.journal.messages.answers import known_answer
from risala.engine.journal.messages.counts import CountKey
from risala.engine.journal.people import mails
from risala.engine.journal.rows import Entered, NewMessage, Stamp
from risala.engine.journal.store import names
from risala.engine.journal.store.named import Rows
from risala.engine.journal.store.transaction import Failed, Piece
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Forbidden, InsufficientBalance, Refusal, SpendCapReached
from risala.engine.model.ids import key_ms, key_of
from risala.engine.model.numbers import ENCODINGS, KINDS, MODES, recipient_number

_MESSAGE: Final = (
    "INSERT INTO message (key, id, organization, api_key, mode, kind, encoding, priority, status,"
    " recipient, sender, segments, price, currency, route, due_at, valid_until, created_at, charge,"
    " client_key, metadata, send_at, verification_id, notice, accepted, body, receipt_raw)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_ROOM: Final = " " * 44
"""In place of what delivery writes into a message's row: times, the carrier's id and its words.
The first attempt takes it away. A row that grows has to move, and of a long queue that is delivered
later pages would be left half empty."""


@dataclass(frozen=True, slots=True)
class SendRequest:
    """Messages that were asked for together, of one organization and mode."""

    items: Sequence[NewMessage]
    stamp: Stamp | None = None
    """Given where the organization has senders that wait for volume."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What became of a request's messages."""

    results: Sequence[bytes | Refusal]
    """For each, in order, the response to give, its own or the earlier one of the same key; or why
    it was refused."""
    entered: Entered | None
    """The charge; None: nothing was charged."""
    id: str | None
    """Of the first message that is new; None: none is."""


def accept(
    conn: sqlite3.Connection, items: Sequence[NewMessage], stamp: Stamp | None = None
) -> Acceptance:
    """Accept what can be accepted of one request, in the given order."""
    (accepted,) = accept_group(conn, (SendRequest(items, stamp),))
    return accepted


def accept_one(conn: sqlite3.Connection, item: NewMessage, stamp: Stamp | None) -> Acceptance:
    """:func:`accept` for a single message.

    Raises:
        InsufficientBalance: the balance does not cover the price.
        Forbidden: the organization is not active.
    """
    return Piece(accept_each, SendRequest((item,), stamp))(conn)


def accept_group(conn: sqlite3.Connection, requests: Sequence[SendRequest]) -> list[Acceptance]:
    """Accept what can be accepted of many requests, of any organizations, in the given order.

    What one of them is refused is its own result, and costs the others nothing.
    """
    group = _Group(conn)
    accepted = [group.take(request) for request in requests]
    group.write()
    return accepted


def accept_each(
    conn: sqlite3.Connection, requests: Sequence[SendRequest]
) -> list[Acceptance | Failed]:
    """:func:`accept_group` for requests of a single message each, of which those that are refused
    have failed."""
    return [
        Failed(result) if isinstance(result := accepted.results[0], Refusal) else accepted
        for accepted in accept_group(conn, requests)
    ]


@dataclass(frozen=True, slots=True)
class _Account:
    """What an organization's row says before a unit."""

    no: int
    status: str
    balance: int
    spend_cap: int | None
    owner_spend_cap: int | None


_ACCOUNTS: Final = Rows(_Account)
_ACCOUNT: Final = f"SELECT {_ACCOUNTS.columns} FROM organizations WHERE id = ?"  # noqa: S608 -- constants


class _Payer:
    """An organization while a unit charges it."""

    def __init__(self, conn: sqlite3.Connection, organization_id: str) -> None:
        row = _ACCOUNTS.of(conn.execute(_ACCOUNT, (organization_id,)).fetchone())
        self.no = row.no
        self.is_active = row.status == "active"
        self.balance = row.balance
        self.charged = False
        caps = (row.spend_cap, row.owner_spend_cap)
        self.days = spending.Days(conn, organization_id, caps)

    def refusal(self, item: NewMessage) -> Refusal | None:
        """Why a message cannot be accepted."""
        if not self.is_active:
            return Forbidden("The organization is not active.")
        if item.mode != "live":
            return None
        # A positive balance is needed even where the price is zero.
        if self.balance <= 0 or self.balance < item.price:
            return InsufficientBalance()
        return None if self.days.have_room(item) else SpendCapReached()


class _Group:
    """What a unit accepts: gathered request by request, and written in a few statements."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self._payers: dict[str, _Payer] = {}
        self._given: dict[tuple[str, str, str], bytes] = {}
        self._numbers: dict[str, int] = {}
        self._rows: list[tuple[object, ...]] = []
        self._charges: list[Charge] = []
        self._counted: Counter[CountKey] = Counter()
        self._low: list[tuple[NewMessage, int]] = []
        self._waiting: dict[str, Stamp] = {}
        self._next_seq = 0

    def take(self, request: SendRequest) -> Acceptance:
        """Judge a request, and note what it brings."""
        first = request.items[0]
        payer = self._payer(first.organization_id)
        before = payer.balance
        results: list[bytes | Refusal] = []
        taken: list[NewMessage] = []
        for item in request.items:
            known = self._known(item)
            refusal = None if known is not None else payer.refusal(item)
            if known is None and refusal is None:
                self._given[(item.organization_id, item.mode, item.idempotency_key)] = item.response
                payer.balance -= item.price
                if item.mode == "live":
                    payer.days.charge(item)
                taken.append(item)
            results.append(known or refusal or item.response)
        if not taken:
            return Acceptance(results, None, None)
        if first.mode != "live":
            self._store(payer, taken, None)
            return Acceptance(results, None, taken[0].id)
        charge = self._charge(payer, taken, before)
        self._store(payer, taken, charge.seq)
        if payer.balance < taken[-1].low_balance <= before:
            self._low.append((taken[-1], payer.balance))
        if request.stamp is not None:
            self._waiting[first.organization_id] = request.stamp
        entered = Entered(first.organization_id, charge.seq, payer.balance)
        return Acceptance(results, entered, taken[0].id)

    def write(self) -> None:
        """Write all that was accepted."""
        if not self._rows:
            return
        conn = self._conn
        conn.executemany(_MESSAGE, self._rows)
        counts.add(conn, self._counted)
        if self._charges:
            ledger.charge(conn, self._charges)
            payers = [payer for payer in self._payers.values() if payer.charged]
            conn.executemany(
                "UPDATE organizations SET balance = ? WHERE no = ?",
                [(payer.balance, payer.no) for payer in payers],
            )
            for payer in payers:
                payer.days.write()
        for item, balance in self._low:
            outbox.balance_event(conn, item, balance)
            mails.owe_low_balance(conn, item.organization_id, balance, item.created_at)
        for organization_id, stamp in self._waiting.items():
            senders.approve_by_volume(conn, organization_id, stamp)

    def _payer(self, organization_id: str) -> _Payer:
        payer = self._payers.get(organization_id)
        if payer is None:
            payer = self._payers[organization_id] = _Payer(self._conn, organization_id)
        return payer

    def _known(self, item: NewMessage) -> bytes | None:
        """The answer that its key was given before."""
        if item.key_is_ours:
            return None
        slot = (item.organization_id, item.mode, item.idempotency_key)
        return self._given.get(slot) or known_answer(self._conn, *slot)

    def _charge(self, payer: _Payer, taken: Sequence[NewMessage], before: int) -> Charge:
        """One entry for all that a request brings."""
        self._next_seq = self._next_seq or ledger.next_seq(self._conn)
        charge = Charge(
            self._next_seq,
            payer.no,
            before - payer.balance,
            payer.balance,
            _key(taken[0]),
            len(taken),
            taken[0].created_at,
        )
        self._next_seq += 1
        self._charges.append(charge)
        payer.charged = True
        return charge

    def _store(self, payer: _Payer, taken: Iterable[NewMessage], charge: int | None) -> None:
        for new in taken:
            mode, kind = MODES.number(new.mode), KINDS.number(new.kind)
            key = _key(new)
            self._rows.append(
                (
                    *(key, new.id, payer.no, new.api_key and self._number(new.api_key)),
                    *(mode, kind, ENCODINGS.number(new.encoding), new.priority),
                    *(recipient_number(new.recipient), self._number(new.sender)),
                    *(new.segments, new.price, new.currency, self._number(new.route)),
                    *(new.due_at, new.valid_until),
                    None if key_ms(key) == new.created_at else new.created_at,
                    charge,
                    None if new.key_is_ours else new.idempotency_key,
                    None if new.metadata == "{}" else new.metadata,
                    *(new.send_at, new.verification_id, new.notice, new.line.details, new.body),
                    _ROOM if new.segments == 1 else None,
                )
            )
            counted = counts.accepted(payer.no, mode, kind, new.recipient, new.created_at)
            self._counted[counted] += 1

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = names.number(self._conn, name)
        return number


def _key(new: NewMessage) -> int:
    key = key_of(new.id)
    assert key is not None, "whoever makes messages makes their ids"
    return key
