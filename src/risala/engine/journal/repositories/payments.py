"""Payments and banks' texts: the journal's interface for the rest of the engine."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.carriers import notes
from risala.engine.journal.pages import payments as lists
from risala.engine.journal.payments import counts, payments, reading, references, texts
from risala.engine.journal.repositories.store import Store, command, read
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.figures import DECIDING_MAX
from risala.engine.model.records.paying.bank_texts import AccountBalance, BankText
from risala.engine.model.records.paying.payments import PaymentChange, StoredPayment
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
    listed = read(lists.page)
    queued = read(lists.queue)
    begun = read(payments.begun)
    matching = read(payments.matching)
    is_entered = read(lists.is_entered)
    is_credited = read(references.is_credited)
    to_poll = read(payments.to_poll)
    next_poll = read(payments.next_poll)

    def count_claimed(self) -> int:
        """Payments that are reported as paid and wait for an operator, counted up to a limit."""
        return payments.count_claimed(self._store.reader, DECIDING_MAX)

    first_claimed_at = read(lists.first_claimed_at)
    count_open = read(counts.open_payments)
    count_of_day = read(counts.payments_of_day)

    # -- commands

    async def add(
        self, new: StoredPayment, open_max: int, *, by: AuditEntry | None = None
    ) -> StoredPayment:
        """Store a payment.

        Raises:
            NotFound: no such organization.
            Conflict: too many of the organization's are under way.
        """
        return await self._store.commit(partial(payments.add, new=new, open_max=open_max), by)

    async def change(
        self, payment_id: str, change: PaymentChange, *, by: AuditEntry | None = None
    ) -> StoredPayment:
        """Change an open payment; a confirmed or refused one stays as it is."""
        unit = partial(payments.change, payment_id=payment_id, change=change)
        return await self._store.commit(unit, by)

    decline = command(payments.decline)

    async def refuse(
        self,
        payment_id: str,
        *,
        cause: str,
        why: Mapping[str, str],
        who: str,
        at: int,
        by: AuditEntry,
    ) -> StoredPayment:
        """An operator refuses a payment.

        Raises:
            NotFound: the id is unknown.
            Conflict: it is credited.
        """
        unit = partial(payments.refuse, payment_id=payment_id, cause=cause, why=why, by=who, at=at)
        return await self._store.commit(unit, by)

    async def note_asked(self, payment_id: str, *, by: AuditEntry) -> StoredPayment:
        """Note that an operator asks its provider; the payment itself does not change."""
        return await self._store.commit(partial(payments.payment, payment_id=payment_id), by)


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
            notes.forget(conn, carrier, forget)

        await self._store.commit(unit)

    leave = command(reading.leave)
    read = command(reading.read)
    put_off = command(reading.put_off)

    async def dismiss(self, text_id: str, who: str, at: int, *, by: AuditEntry) -> BankText:
        """An operator closes a text without action.

        Raises:
            NotFound: the id is unknown.
            Conflict: it is credited.
        """
        unit = partial(reading.dismiss, text_id=text_id, by=who, at=at)
        return await self._store.commit(unit, by)

    async def set_balance(
        self, method: str, amount: int, at: int, said_by: str, *, by: AuditEntry
    ) -> AccountBalance:
        """An operator enters a method's present account balance."""
        unit = partial(texts.set_balance, method=method, amount=amount, at=at, said_by=said_by)
        return await self._store.commit(unit, by)
