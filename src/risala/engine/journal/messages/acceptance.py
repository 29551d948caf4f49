"""Accepting messages: charge, store, remember the answer — all of it or nothing.

A *request* is one message, or a batch. A batch is one unit of work, so that all that it accepts
becomes durable together, but its items are independent: one that cannot be paid does not affect the
others. Many requests in one unit store the same rows, with as few statements.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final, NamedTuple

from risala.engine.journal.accounts import ledger, senders
from risala.engine.journal.accounts.ledger import Charge
from risala.engine.journal.accounts.payers import BalancePayer, OwnParts
from risala.engine.journal.messages import counts
from risala.engine.journal.messages.answers import known_answer, used_keys
from risala.engine.journal.messages.counts import CountKey
from risala.engine.journal.people import mails
from risala.engine.journal.store import names
from risala.engine.journal.store.sql import Row, write_values
from risala.engine.journal.store.transaction import Piece
from risala.engine.journal.webhooks import outbox
from risala.engine.model.errors import Failed, Refusal
from risala.engine.model.ids import key_ms
from risala.engine.model.numbers import ENCODINGS, KINDS, MODES, recipient_number
from risala.engine.model.records.accounts import Entered
from risala.engine.model.records.messages import Acceptance, NewMessage, Stamp

_COLUMNS: Final = (
    *("key", "id", "organization", "api_key", "mode", "kind", "encoding", "priority", "recipient"),
    *("sender", "segments", "price", "currency", "route", "due_at", "valid_until", "charge"),
    *("client_key", "accepted", "receipt_raw", "body"),
)
_RARE: Final = ("created_at", "metadata", "send_at", "verification_id", "notice", "part")
"""Columns that are null in most rows, and which most statements therefore omit."""
_NULL: Final = {
    **dict.fromkeys(("api_key", "charge", "created_at", "send_at", "part"), "0"),
    **dict.fromkeys(("client_key", "accepted", "receipt_raw"), "''"),
    **dict.fromkeys(("metadata", "verification_id", "notice"), "''"),
}
"""The parameter for such a null column: None takes the ``sqlite3`` module as long as ten other
values."""


def _inserting(columns: Sequence[str]) -> str:
    values = [
        f"nullif(column{n}, {_NULL[name]})" if name in _NULL else f"column{n}"
        for n, name in enumerate(columns, 1)
    ]
    return (
        f"INSERT INTO message (status, {', '.join(columns)})"  # noqa: S608 -- constants
        f" SELECT 0, {', '.join(values)} FROM ({{values}})"
    )


_PLAIN: Final = _inserting(_COLUMNS)
_WHOLE: Final = _inserting((*_COLUMNS, *_RARE))
_MODES, _KINDS, _ENCODINGS = MODES.numbers, KINDS.numbers, ENCODINGS.numbers
_ROOM: Final = " " * 44
"""A placeholder for what delivery writes into a message's row: times, the carrier's id and its
words. The first attempt removes it. A row that grows has to move, and the pages of a long queue
that is delivered later would be left half empty."""


class SendRequest(NamedTuple):
    """Messages that were requested together, of one organization and mode."""

    items: Sequence[NewMessage]
    stamp: Stamp | None = None
    """Given if the organization has senders that wait for volume."""


def accept(
    conn: sqlite3.Connection, items: Sequence[NewMessage], stamp: Stamp | None = None
) -> Acceptance:
    """Accept as many messages of one request as possible, in the given order."""
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
    """Accept as many messages of many requests as possible, in the given order.

    A refusal in one of them is its own result, and does not affect the others.
    """
    group = _Group(conn, requests)
    accepted = [group.take(request) for request in requests]
    group.write()
    return accepted


def accept_each(
    conn: sqlite3.Connection, requests: Sequence[SendRequest]
) -> list[Acceptance | Failed]:
    """:func:`accept_group` for requests of a single message each, whose refusals are failures."""
    return [
        Failed(result) if isinstance(result := accepted.results[0], Refusal) else accepted
        for accepted in accept_group(conn, requests)
    ]


def together(answers: Sequence[Acceptance | Failed]) -> Acceptance:
    """What came of requests of a single message each, as of one request: some may have failed by
    the storage too."""
    results: list[Any] = [
        each.error if isinstance(each, Failed) else each.results[0] for each in answers
    ]
    there = [each for each in answers if isinstance(each, Acceptance)]
    entered = next((each.entered for each in reversed(there) if each.entered is not None), None)
    first = next((each.id for each in there if each.id is not None), None)
    is_whole = len(there) == len(answers) and all(each.whole for each in there)
    return Acceptance(results, entered, first, is_whole)


_Slot = tuple[str, str, str]
"""Organization, mode and idempotency key."""


def _used_slots(conn: sqlite3.Connection, requests: Sequence[SendRequest]) -> set[_Slot]:
    """The clients' keys of these requests that may have been used, by a statement for each
    organization."""
    keys_of: dict[tuple[str, str], list[str]] = {}
    for request in requests:
        for item in request.items:
            if not item.key_is_ours:
                whose = item.organization_id, item.mode
                keys_of.setdefault(whose, []).append(item.idempotency_key)
    return {
        (*whose, key) for whose, keys in keys_of.items() for key in used_keys(conn, *whose, keys)
    }


class _AcceptedMessages(NamedTuple):
    """A request's accepted messages, of one organization and in one mode."""

    organization: int
    news: Sequence[NewMessage]
    charge: int | None


class _Group:
    """A unit's accepted messages: gathered request by request, written in a few statements."""

    def __init__(self, conn: sqlite3.Connection, requests: Sequence[SendRequest]) -> None:
        self._conn = conn
        self._used = _used_slots(conn, requests)
        """Clients' keys that were used before."""
        self._payers: dict[str, BalancePayer] = {}
        self._own: dict[str, OwnParts] = {}
        """Organizations that send for themselves."""
        self._given: dict[_Slot, bytes] = {}
        """Answers by clients' keys, which only they can use again."""
        self._taken: list[_AcceptedMessages] = []
        self._charges: list[Charge] = []
        self._low: list[tuple[NewMessage, int]] = []
        self._waiting: dict[str, Stamp] = {}
        self._next_seq = 0

    def take(self, request: SendRequest) -> Acceptance:
        """Judge a request, and gather its rows."""
        items = request.items
        first = items[0]
        payer: BalancePayer | OwnParts
        if first.allowance is None:
            payer = self._payer(first.organization_id)
        else:
            payer = self._own_parts(first.organization_id)
        before = payer.balance
        if self._takes_whole(payer, items):
            results: list[bytes | Refusal] = [item.response for item in items]
            taken, whole = items, True
        else:
            results, taken = self._judge_each(payer, items)
            whole = len(taken) == len(items)
        if not taken:
            return Acceptance(results, None, None)
        if first.mode == "live" and request.stamp is not None:
            self._waiting[first.organization_id] = request.stamp
        if first.mode != "live" or isinstance(payer, OwnParts):
            self._taken.append(_AcceptedMessages(payer.no, taken, None))
            return Acceptance(results, None, taken[0].id, whole)
        charge = self._charge(payer, taken, before)
        self._taken.append(_AcceptedMessages(payer.no, taken, charge.seq))
        if payer.balance < taken[-1].low_balance <= before:
            self._low.append((taken[-1], payer.balance))
        entered = Entered(first.organization_id, charge.seq, payer.balance)
        return Acceptance(results, entered, taken[0].id, whole)

    def write(self) -> None:
        """Write all that was accepted."""
        if not self._taken:
            return
        conn = self._conn
        self._write_messages()
        if self._charges:
            ledger.charge(conn, self._charges)
            payers = [payer for payer in self._payers.values() if payer.charged]
            conn.executemany(
                "UPDATE organizations SET balance = ? WHERE no = ?",
                [(payer.balance, payer.no) for payer in payers],
            )
            for payer in payers:
                payer.days.write()
        for own in self._own.values():
            own.days.write()
        for item, balance in self._low:
            outbox.balance_event(conn, item, balance)
            mails.owe_low_balance(conn, item.organization_id, balance, item.created_at)
        for organization_id, stamp in self._waiting.items():
            senders.approve_by_volume(conn, organization_id, stamp)

    def _payer(self, organization_id: str) -> BalancePayer:
        payer = self._payers.get(organization_id)
        if payer is None:
            payer = self._payers[organization_id] = BalancePayer(self._conn, organization_id)
        return payer

    def _own_parts(self, organization_id: str) -> OwnParts:
        own = self._own.get(organization_id)
        if own is None:
            own = self._own[organization_id] = OwnParts(self._conn, organization_id)
        return own

    def _takes_whole(self, payer: BalancePayer | OwnParts, items: Sequence[NewMessage]) -> bool:
        """Charge a request as a whole if each of its messages could be charged in turn, and none
        has a key that may have been used before; False: nothing was charged."""
        first = items[0]
        amount = 0
        responses: dict[_Slot, bytes] = {}
        keyed = 0
        for item in items:
            if item.day != first.day:
                return False
            amount += payer.amount_of(item)
            if not item.key_is_ours:
                keyed += 1
                responses[item.organization_id, item.mode, item.idempotency_key] = item.response
        if payer.refusal(first, amount) or not payer.leaves_rest(amount):
            return False
        if keyed and (len(responses) < keyed or not self._are_new(responses)):
            return False
        payer.charge(first.mode, first.day, amount)
        self._given.update(responses)
        return True

    def _are_new(self, slots: Collection[_Slot]) -> bool:
        """Whether no message has any of these keys."""
        return self._used.isdisjoint(slots) and self._given.keys().isdisjoint(slots)

    def _judge_each(
        self, payer: BalancePayer | OwnParts, items: Sequence[NewMessage]
    ) -> tuple[list[bytes | Refusal], list[NewMessage]]:
        """The result of each message, after those before it; and the accepted ones."""
        results: list[bytes | Refusal] = []
        taken: list[NewMessage] = []
        for item in items:
            slot = (item.organization_id, item.mode, item.idempotency_key)
            amount = payer.amount_of(item)
            result: bytes | Refusal | None = None
            if not item.key_is_ours:
                result = self._given.get(slot)
                if result is None and slot in self._used:
                    result = known_answer(self._conn, *slot)
            if result is None:
                result = payer.refusal(item, amount)
            if result is None:
                result = item.response
                payer.charge(item.mode, item.day, amount)
                taken.append(item)
                if not item.key_is_ours:
                    self._given[slot] = result
            results.append(result)
        return results, taken

    def _charge(self, payer: BalancePayer, taken: Sequence[NewMessage], before: int) -> Charge:
        """One entry for everything in a request."""
        self._next_seq = self._next_seq or ledger.next_seq(self._conn)
        first = taken[0]
        charge = Charge(
            *(self._next_seq, payer.no, before - payer.balance, payer.balance),
            *(first.key, len(taken), first.created_at),
        )
        self._next_seq += 1
        self._charges.append(charge)
        payer.charged = True
        return charge

    def _write_messages(self) -> None:
        """Write the messages' rows, and count them."""
        carried = dict.fromkeys(
            name
            for taken in self._taken
            for new in taken.news
            for name in (new.api_key, new.sender, new.route)
        )
        numbers = names.numbers(self._conn, [name for name in carried if name is not None])
        plain: list[Row] = []
        others: list[Row] = []
        for organization, news, charge in self._taken:
            for new in news:
                row, rare = _row(new, organization, charge or 0, numbers)
                if any(rare):
                    others.append((*row, *rare))
                else:
                    plain.append(row)
        write_values(self._conn, _PLAIN, plain)
        write_values(self._conn, _WHOLE, others)
        counted: Counter[CountKey] = Counter()
        for organization, news, _ in self._taken:
            counts.count_accepted(counted, organization, news)
        counts.add(self._conn, counted)


def _row(
    new: NewMessage, organization: int, charge: int, numbers: Mapping[str, int]
) -> tuple[Row, Row]:
    """The values of a message's columns: the usual ones, and the rare ones."""
    # Unpacked once: reading a tuple's field by its name takes four times as long.
    (
        key,
        message_id,
        kind,
        recipient,
        sender,
        body,
        encoding,
        segments,
        price,
        metadata,
        priority,
        route,
        due_at,
        valid_until,
        send_at,
        idempotency_key,
        key_is_ours,
        _,
        line,
        verification_id,
        notice,
        _,
        mode,
        currency,
        created_at,
        _,
        _,
        api_key,
        part,
        _,
    ) = new
    row = (
        key,
        message_id,
        organization,
        0 if api_key is None else numbers[api_key],
        _MODES[mode],
        _KINDS[kind],
        _ENCODINGS[encoding],
        priority,
        recipient_number(recipient),
        numbers[sender],
        segments,
        price,
        currency,
        numbers[route],
        due_at,
        valid_until,
        charge,
        "" if key_is_ours else idempotency_key,
        line.details or "",
        _ROOM if segments == 1 else "",
        body,
    )
    rare = (
        0 if key_ms(key) == created_at else created_at,
        "" if metadata == "{}" else metadata,
        send_at or 0,
        verification_id or "",
        notice or "",
        part or 0,
    )
    return row, rare
