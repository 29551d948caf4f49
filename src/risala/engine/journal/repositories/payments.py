"""Payments and banks' texts: the journal's interface for the rest of the engine."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from risala.engine.journal.carriers import notes
from risala.engine.journal.pages import payments as lists
from risala.engine.journal.payments import counts, payments, reading, references, texts
from risala.engine.journal.repositories.store import Store
from risala.engine.model.audit import AuditEntry
from risala.engine.model.records.figures import DECIDING_MAX
from risala.engine.model.records.paging import CursorPage, Steps
from risala.engine.model.records.paying.bank_texts import AccountBalance, BankText, Read, TextWhy
from risala.engine.model.records.paying.payments import PaymentChange, PaymentFilter, StoredPayment
from risala.sms.message import Inbound


@dataclass(frozen=True, slots=True)
class PaymentRepository:
    """Organizations' top-up payments. All reads are by an index, on the loop's thread.

    A command returns once it is on disk, and raises ``Unavailable`` if the disk did not take it.
    """

    _store: Store

    # -- reads

    def payment(self, payment_id: str) -> StoredPayment:
        """One payment.

        Raises:
            NotFound: the id is unknown.
        """
        return payments.payment(self._store.reader, payment_id)

    def page(
        self,
        count: int,
        *,
        organization_id: str | None = None,
        before: str | None = None,
        is_open: bool = False,
    ) -> list[StoredPayment]:
        """The newest first.

        Args:
            organization_id: None: of all.
            before: the id of a payment: only older ones.
            is_open: only those that are neither confirmed nor refused, whether or not they are
                over.
        """
        return payments.page(
            self._store.reader,
            count,
            organization_id=organization_id,
            before=before,
            is_open=is_open,
        )

    def listed(self, wanted: PaymentFilter, steps: Steps) -> CursorPage[StoredPayment]:
        """A page over all organizations, the newest first."""
        return lists.page(self._store.reader, wanted, steps)

    def queued(self, wanted: PaymentFilter, steps: Steps) -> CursorPage[StoredPayment]:
        """The same with the oldest first."""
        return lists.queue(self._store.reader, wanted, steps)

    def begun(self, count: int, after: str = "") -> list[StoredPayment]:
        """Payments without an answer of their method yet, the oldest first."""
        return payments.begun(self._store.reader, count, after)

    def matching(self, method: str, key: str) -> list[StoredPayment]:
        """The open payments of a method with a reference, in comparable form."""
        return payments.matching(self._store.reader, method, key)

    def is_entered(self, key: str) -> bool:
        """Whether a payment has this reference, in comparable form."""
        return lists.is_entered(self._store.reader, key)

    def is_credited(self, provider: str, key: str) -> bool:
        """Whether a provider's reference was credited, by a payment or by hand."""
        return references.is_credited(self._store.reader, provider, key)

    def to_poll(self, at: int, count: int) -> list[StoredPayment]:
        """Payments whose provider must be asked now, the longest waiting first."""
        return payments.to_poll(self._store.reader, at, count)

    def next_poll(self) -> int | None:
        """When the next provider must be asked."""
        return payments.next_poll(self._store.reader)

    def count_claimed(self) -> int:
        """Payments that are reported as paid and wait for an operator, counted up to a limit."""
        return payments.count_claimed(self._store.reader, DECIDING_MAX)

    def first_claimed_at(self) -> int | None:
        """Since when the first of them waits, UTC epoch milliseconds."""
        return lists.first_claimed_at(self._store.reader)

    def count_open(self) -> Mapping[str, int]:
        """Undecided payments, by their state, counted up to a limit."""
        return counts.open_payments(self._store.reader)

    def count_of_day(self, now_ms: int) -> Mapping[str, int]:
        """Payments begun in the last 24 hours, by their state now, counted up to a limit."""
        return counts.payments_of_day(self._store.reader, now_ms)

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

    async def decline(
        self, payment_id: str, *, cause: str, why: Mapping[str, str], at: int
    ) -> StoredPayment:
        """Its provider reports that it was not paid. A decided payment stays as it is."""
        unit = partial(payments.decline, payment_id=payment_id, cause=cause, why=why, at=at)
        return await self._store.commit(unit)

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

    def unread(self, count: int) -> list[BankText]:
        """Unread texts, in the order in which they came."""
        return texts.unread(self._store.reader, count)

    def waiting(self, why: Collection[TextWhy], count: int) -> list[BankText]:
        """Payments that are not credited for one of these reasons, the newest first."""
        return texts.waiting(self._store.reader, why, count)

    def page(
        self,
        count: int,
        *,
        before: int | None = None,
        method: str | None = None,
        is_open: bool = False,
        key: str | None = None,
    ) -> list[BankText]:
        """The newest first.

        Args:
            before: the number of a text: only older ones.
            method: only those that this method has read something in.
            is_open: only what an operator may have to do something about.
            key: only those with this reference, as it is compared.
        """
        return texts.page(
            self._store.reader, count, before=before, method=method, is_open=is_open, key=key
        )

    def payment_of(self, stored: BankText) -> str:
        """The payment of a text, or a word for why it has none."""
        return reading.whose(self._store.reader, stored)

    def count_open(self, method: str | None) -> int:
        """How many wait for the operator: of a method, or those without a known method."""
        return texts.count_open(self._store.reader, method)

    def newest(self, method: str) -> BankText | None:
        """The last text in which a method has read something."""
        return texts.newest(self._store.reader, method)

    def last_moved(self, method: str) -> BankText | None:
        """The last text with an amount and the balance after it."""
        return texts.last_moved(self._store.reader, method)

    def credited_by_itself(self, method: str, since: int) -> int:
        """Minor units that texts alone have credited since a moment."""
        return texts.credited_by_itself(self._store.reader, method, since)

    def balance(self, method: str) -> AccountBalance | None:
        """A method's account balance; None: not known yet."""
        return texts.balance(self._store.reader, method)

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

    async def leave(self, text_id: str, why: TextWhy) -> BankText:
        """No method reads a text."""
        return await self._store.commit(partial(reading.leave, text_id=text_id, why=why))

    async def read(self, text_id: str, found: Read, at: int) -> BankText:
        """Store what was read in a text, and follow the balance of its account."""
        return await self._store.commit(partial(reading.read, text_id=text_id, found=found, at=at))

    async def put_off(self, text_id: str, why: str) -> BankText:
        """A text waits for this reason from now on."""
        return await self._store.commit(partial(reading.put_off, text_id=text_id, why=why))

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
