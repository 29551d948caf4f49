"""Payments and banks' texts, as the rest of the feature reads and changes them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from risala.dataclass import dataclass
from risala.engine.features.payments.stored import payments, reading, texts
from risala.engine.journal import carrier_secrets
from risala.engine.journal.accounts import references
from risala.engine.journal.store.repository import Store, audited_command, command, read
from risala.sms.message import Inbound


@dataclass(frozen=True, slots=True)
class PaymentRepository:
    """Organizations' top-up payments. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    payment = read(payments.payment)
    page = read(payments.page)
    listed = read(payments.listed)
    queued = read(payments.queued)
    begun = read(payments.begun)
    matching = read(payments.matching)
    is_entered = read(payments.is_entered)
    is_credited = read(references.is_credited)
    to_poll = read(payments.to_poll)
    next_poll = read(payments.next_poll)

    count_claimed = read(payments.count_claimed)
    first_claimed_at = read(payments.first_claimed_at)
    count_open = read(payments.open_payments)
    count_of_day = read(payments.payments_of_day)

    # -- commands

    add = audited_command(payments.add)
    credit = audited_command(payments.credit)
    change = audited_command(payments.change)
    refuse = audited_command(payments.refuse)
    # an operator asks its provider: the payment itself does not change
    note_asked = audited_command(payments.payment)


@dataclass(frozen=True, slots=True)
class BankTextRepository:
    """Banks' texts to an operator's SIM. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    unread = read(texts.unread)
    waiting = read(texts.waiting)
    page = read(texts.page)
    payment_of = read(reading.whose)
    count_open = read(texts.count_open)
    newest = read(texts.newest)
    last_moved = read(texts.last_moved)
    credited_by_itself = read(texts.credited_by_itself)
    balance = read(texts.balance)

    # -- commands

    async def store(
        self, text_id: str, carrier: str, message: Inbound, forget: Sequence[str]
    ) -> None:
        """Store one, once however often the carrier brings it.

        Args:
            forget: the driver's notes that are struck in the same transaction.
        """

        def unit(conn: sqlite3.Connection) -> None:
            texts.store(conn, text_id, carrier, message)
            carrier_secrets.forget(conn, carrier, forget)

        await self._store.commit(unit)

    credit = command(reading.credit)
    leave = command(reading.leave)
    read = command(reading.read)
    put_off = command(reading.put_off)
    dismiss = audited_command(reading.dismiss)
    set_balance = audited_command(texts.set_balance)
