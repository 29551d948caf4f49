"""Messages on their ordinary way, remembered from one step to the next.

A message usually leaves, is accepted and is delivered within moments. Reading its row again at each
of these steps costs more than writing the result. So the last step's state is remembered, and
before it is used one statement checks, for all messages of a group, whose row differs from it:
those are read, and so are all exceptions. No decision is based on memory alone, so code that
changes a row need not report it.

It belongs to the journal's writer: only units use it. A unit that is rolled back may leave wrong
states behind; they fail the same check.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from risala.engine.journal.messages import matching
from risala.engine.journal.messages.matching import is_for
from risala.engine.journal.messages.parts import ACCEPTED, carrier_key
from risala.engine.journal.state import MessageState, changed_since
from risala.engine.model.records.attempts import Arrival, Lease, SubmitAnswer
from risala.engine.model.records.messages import DueRow
from risala.engine.model.states import Status
from risala.engine.rules.receiptgroups import Groups
from risala.sms.receipt import Receipt

REMEMBERED_MAX: Final = 4096
"""About 3 MB. Forty windows of a hundred; if a carrier's receipts take hours, the first ones are
forgotten, and read again when their receipts come."""
Memory = dict[str, MessageState]
"""By their ids, messages whose rows were checked and are as remembered."""


class UnderWay:
    def __init__(self, remembered_max: int = REMEMBERED_MAX) -> None:
        self._remembered_max = remembered_max
        self._by_id: dict[str, MessageState] = {}
        self._by_carrier_id: dict[tuple[str, str], MessageState] = {}

    @property
    def remembered(self) -> int:
        """The number of remembered messages, within the limit."""
        return len(self._by_id)

    def leaves(self, message: MessageState) -> None:
        """The only part of a message is being submitted."""
        while len(self._by_id) >= self._remembered_max:
            self._forget(next(iter(self._by_id.values())))
        self._by_id[message.id] = message

    def sent(self, message: MessageState) -> None:
        """A message was accepted; a receipt may have its carrier's id."""
        if self._by_id.get(message.id) is message and message.carrier and message.carrier_key:
            self._by_carrier_id[(message.carrier, message.carrier_key)] = message

    def ended(self, message: MessageState) -> None:
        """Nothing more will come."""
        self._forget(message)

    def _forget(self, message: MessageState) -> None:
        if self._by_id.get(message.id) is message:
            del self._by_id[message.id]
        name = (message.carrier or "", message.carrier_key or "")
        if self._by_carrier_id.get(name) is message:
            del self._by_carrier_id[name]

    def of_leases(self, conn: sqlite3.Connection, leases: Sequence[Lease]) -> Memory:
        """Messages that leave for the first time, in the queue's form."""
        return self._unchanged(
            conn,
            [
                _queued(lease.row)
                for lease in leases
                if lease.row is not None and lease.opens and _is_new(lease.row)
            ],
        )

    def of_answers(self, conn: sqlite3.Connection, answers: Sequence[SubmitAnswer]) -> Memory:
        """Messages of answers; each can be used for the first answer about it."""
        message_ids = dict.fromkeys(answer.attempt.message_id for answer in answers)
        messages = [self._by_id.get(message_id) for message_id in message_ids]
        return self._unchanged(conn, [message for message in messages if message is not None])

    def of_receipts(
        self,
        conn: sqlite3.Connection,
        arrivals: Sequence[Arrival],
        names: Sequence[Sequence[str]],
        groups: Groups,
    ) -> Memory:
        """Messages, by their carriers' ids, that exactly one receipt of a group ends.

        Args:
            names: for each receipt, the result of :func:`names_of`.
        """
        if not self._by_carrier_id:
            return {}
        times = Counter(name for some in names for name in some)
        candidates: dict[tuple[str, ...], list[MessageState]] = {}
        for arrival, some in zip(arrivals, names, strict=True):
            carriers = tuple(groups(arrival.carrier))
            message = self._meant(arrival.receipt, some[0], carriers)
            if message is not None and all(times[name] == 1 for name in some):
                candidates.setdefault(carriers, []).append(message)
        known: Memory = {}
        for carriers, messages in candidates.items():
            lone = matching.known_once(conn, carriers, messages)
            for message in self._unchanged(conn, lone).values():
                assert message.carrier_key is not None
                known[message.carrier_key] = message
        return known

    def _meant(self, receipt: Receipt, name: str, carriers: Iterable[str]) -> MessageState | None:
        for carrier in carriers:
            message = self._by_carrier_id.get((carrier, name))
            if message is not None:
                break
        else:
            return None
        fits = (
            receipt.state.is_final
            and message.status is Status.SENT
            and message.part_state == ACCEPTED
            and is_for(message.recipient, receipt.recipient, receipt.sender)
        )
        return message if fits else None

    def _unchanged(self, conn: sqlite3.Connection, messages: Sequence[MessageState]) -> Memory:
        """Messages whose rows are as remembered; the others are forgotten."""
        if not messages:
            return {}
        changed = changed_since(conn, messages)
        known: Memory = {}
        for message in messages:
            if message.key in changed:
                self._forget(message)
            else:
                known[message.id] = message
        return known


def names_of(receipt: Receipt) -> tuple[str, ...]:
    """The forms of the id in a receipt; the first is the original one."""
    name = carrier_key(receipt.carrier_id)
    if not receipt.also_known_as:
        return (name,)
    others = dict.fromkeys(map(carrier_key, receipt.also_known_as))
    return tuple(dict.fromkeys((name, *others)))


def _is_new(row: DueRow) -> bool:
    """Whether its row has nothing that the queue has not read."""
    return row.attempts == 0 and row.segments == 1 and row.organization > 0


def _queued(row: DueRow) -> MessageState:
    return MessageState(
        row.seq,
        row.id,
        row.organization,
        row.organization_id,
        row.recipient,
        Status.PENDING,
        row.segments,
        row.price,
        row.priority,
        row.route,
        row.due_at,
        0,
        row.valid_until,
        None,
        row.tried,
        row.mode,
        row.kind,
        row.verification_id,
        row.send_at,
        row.created_at,
        None,
        None,
        None,
        None,
    )
