"""Reads a bank's texts to an operator's SIM, and credits what fits in every respect.

One task reads the texts in the order in which they came, since the balance in each continues the
one before it. Each is stored before it is read, so that the next start reads what a crash cut off;
transactions that read the rows again decide the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Final

import structlog

from risala.engine.actors.retrying import retry_until_committed
from risala.engine.delivery.driver_context import TextTaker
from risala.engine.features.payments.credit_writer import CreditWriter
from risala.engine.features.payments.rules import DAY_MS
from risala.engine.features.payments.sources import PaymentSources
from risala.engine.features.payments.text_records import (
    MAY_YET,
    BankText,
    LineCaps,
    Lines,
    LineStatus,
    Read,
    TextWhy,
    Withheld,
)
from risala.engine.model.audit import AuditEntry
from risala.engine.model.errors import NotFound
from risala.engine.rules.references import comparable
from risala.plugins.payment_texts import HearsTexts, TextKind, TextReading
from risala.sms.message import Inbound

log = structlog.get_logger(__name__)

READ_AT_ONCE: Final = 50
LOOKED_AGAIN_MAX: Final = 200
"""Texts without their payment that are checked again when a payment changed: the newest ones. The
operator sees all of them."""
_BELIEVED: Final = (TextKind.CREDIT, TextKind.DEBIT, TextKind.NOTICE)
_HOPELESS: Final = (TextKind.FOREIGN_SENDER, TextKind.FOREIGN_CENTRE, TextKind.NO_PATTERN)
"""Kinds from the weakest to the strongest evidence of a text's origin."""


class BankSmsReader:
    def __init__(self, sources: PaymentSources, writer: CreditWriter) -> None:
        self._have = sources
        self._texts = sources.bank_texts
        self._writer = writer
        self._items = sources.set_aside.loop("bank_texts")
        self._currency = sources.settings.service.currency

    def _asked(
        self, name: str, method: HearsTexts, message: Inbound
    ) -> tuple[TextReading, str | None]:
        """A method's reading, with the reference in comparable form; a plugin's bug must not stop
        us."""
        try:
            reading = method.heard(message)
            settled = reading.settled
            key = None if settled is None else comparable(settled.reference)
            if reading.kind is TextKind.CREDIT:
                if settled is None or key is None or settled.amount <= 0:
                    raise ValueError("a credit has a reference and an amount")
                if settled.currency != self._currency:
                    raise ValueError("a credit has another currency than the balances")
            if settled is not None and settled.payer is not None:
                reading = replace(
                    reading, settled=replace(settled, payer=self._number(settled.payer))
                )
        except Exception:
            log.exception("payment.method_bug", method=name)
            return TextReading(TextKind.NO_PATTERN), None
        return reading, key

    def _number(self, payer: str) -> str | None:
        try:
            return self._have.settings.plan.read(payer)
        except ValueError:
            return None  # hidden in part, or of another country: it proves nothing

    # -- service

    def taker(self, carrier: str) -> TextTaker | None:
        """What takes a carrier's texts; None: no method reads them, and they are for customers."""
        mine = any(method.carrier == carrier for method in self._have.listeners.values())
        return partial(self._take, carrier) if mine else None

    async def _take(self, carrier: str, message: Inbound, forget: Sequence[str]) -> None:
        await self._texts.store(self._have.ids.new("btx"), carrier, message, forget)
        self._have.texts.ring()

    async def run(self) -> None:
        """Read each text, until cancelled."""
        while True:
            await retry_until_committed("payments' texts", self._listen)
            await self._have.texts.wait(self._items.again_s)

    async def _listen(self) -> None:
        """
        Raises:
            Unavailable: the disk does not take it.
        """
        while unread := self._unread():
            for each in unread:
                with self._items.item(each.id):
                    await self._read(each)
        waiting = self._texts.waiting(MAY_YET, LOOKED_AGAIN_MAX)
        for each in self._items.free(waiting, lambda text: text.id):
            with self._items.item(each.id):
                await self._settle(each)

    def _unread(self) -> list[BankText]:
        count = READ_AT_ONCE + len(self._items)
        return self._items.free(self._texts.unread(count), lambda text: text.id)

    async def _read(self, stored: BankText) -> None:
        reading = self._heard(stored)
        if reading is None:
            await self._texts.leave(stored.id, TextWhy.NO_METHOD)
            return
        read = await self._texts.read(stored.id, reading, self._have.now_ms())
        log.info("payment.text", method=read.method, state=read.state.value, why=read.why)

    def _heard(self, stored: BankText) -> Read | None:
        """The methods' reading of a text, of those that use its carrier: of the one that believes
        it, else of the one that knows it best."""
        message = Inbound(
            sender=stored.sender,
            recipient=None,
            text=stored.body,
            received_at_ms=stored.received_at,
            service_centre=stored.service_centre,
            sent_at_ms=stored.sent_at,
        )
        best: Read | None = None
        for name, method in self._have.listeners.items():
            if method.carrier != stored.carrier:
                continue
            reading = Read(name, *self._asked(name, method, message))
            if reading.reading.kind in _BELIEVED:
                return reading
            rank = _HOPELESS.index(reading.reading.kind)
            if best is None or rank > _HOPELESS.index(best.reading.kind):
                best = reading
        return best

    async def _settle(self, stored: BankText) -> None:
        """Credit a text's payment, if it fits."""
        assert stored.method is not None, "what waits was read"
        method = self._have.listeners.get(stored.method)
        caps = None if method is None else method.caps
        if caps is None:
            await self._put_off(stored, TextWhy.BY_OPERATOR.value)
            return
        payment_id = self._texts.payment_of(stored)
        if not payment_id.startswith("pay_"):
            await self._put_off(stored, payment_id)
            return
        organization_id = self._have.payments.payment(payment_id).organization_id
        credit = partial(self._texts.credit, stored.id, caps, self._have.now_ms())
        try:
            await self._writer.enter(organization_id, credit)
        except Withheld as error:
            await self._put_off(stored, error.why)

    async def _put_off(self, stored: BankText, why: str) -> None:
        if why != stored.why:
            await self._texts.put_off(stored.id, why)

    # -- operators

    def status(self) -> Lines:
        """The state of each method's texts."""
        listeners = self._have.listeners.items()
        lines = tuple(self._status_of(name, method) for name, method in listeners)
        return Lines(lines, self._texts.count_open(None))

    def _status_of(self, name: str, method: HearsTexts) -> LineStatus:
        texts, since = self._texts, self._have.now_ms() - DAY_MS
        known, last = texts.balance(name), texts.newest(name)
        moved = texts.last_moved(name)
        return LineStatus(
            method=name,
            carrier=method.carrier,
            by_itself=method.caps is not None,
            caps=None if method.caps is None else LineCaps(**asdict(method.caps)),
            credited_day=texts.credited_by_itself(name, since),
            balance=None if known is None else known.balance,
            balance_at=None if known is None else known.at,
            balance_said_by=None if known is None else known.said_by,
            continues=None if moved is None else moved.continues,
            open=texts.count_open(name),
            last_at=None if last is None else last.received_at,
        )

    async def reconcile(self, method: str, balance: int, who: str, by: AuditEntry) -> None:
        """An operator enters a method's present account balance: texts continue from there.

        Raises:
            NotFound: no such method reads texts.
        """
        if method not in self._have.listeners:
            raise NotFound("No payment method with this name reads texts from its bank.")
        await self._texts.set_balance(by, method, balance, self._have.now_ms(), who)
