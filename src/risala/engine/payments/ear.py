"""The ear: reads what a bank writes to an operator's SIM, and credits what fits in every respect.

One task reads the texts in the order in which they came, since the balance that each tells goes on
from the one before it. Each is a row before it is read, so that what a crash cuts off is read by
the next start; what was read is decided by units that look at the rows again.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from risala.engine.journal.payments import payments, reading, texts
from risala.engine.journal.payments.reading import Read, Withheld
from risala.engine.journal.payments.references import key_of
from risala.engine.journal.payments.told import MAY_YET, BankText, TextState, TextWhy
from risala.engine.journal.store.patient import patiently
from risala.engine.journal.store.signature import Signature, signed
from risala.engine.journal.store.transaction import Unit
from risala.engine.model.errors import Conflict, NotFound
from risala.engine.payments.cashier import Cashier
from risala.engine.payments.sources import DeskSources
from risala.plugins.payment_texts import CreditCaps, HearsTexts, TextKind, TextReading
from risala.sms.message import Inbound

log = structlog.get_logger(__name__)

READ_AT_ONCE: Final = 50
LOOKED_AGAIN_MAX: Final = 200
"""Texts without their payment that are looked at again when a payment changed: the newest ones. The
operator sees all of them."""
_BELIEVED: Final = (TextKind.CREDIT, TextKind.DEBIT, TextKind.NOTICE)
_HOPELESS: Final = (TextKind.FOREIGN_SENDER, TextKind.FOREIGN_CENTRE, TextKind.NO_PATTERN)
"""From what says the least to what says the most of whose text it is."""


@dataclass(frozen=True, slots=True)
class LineStanding:
    """How a method's texts stand."""

    method: str
    carrier: str
    caps: CreditCaps | None
    """None: nothing is credited by itself."""
    credited: int
    """Minor units that texts alone have credited in the last 24 hours."""
    balance: int | None
    """What its account has, as far as the texts were followed; None: nobody has said yet."""
    balance_at: int | None
    balance_said_by: str | None
    """Who said it; None: a text."""
    continues: bool | None
    """Whether the last text went on from there; None: none came."""
    open: int
    """Texts that wait for the operator."""
    last_at: int | None
    """When the last text came."""


class Ear:
    def __init__(self, sources: DeskSources, cashier: Cashier) -> None:
        self._have = sources
        self._cashier = cashier
        self._currency = sources.settings.service.currency

    # -- for life

    async def run(self) -> None:
        """Read each text, for life."""
        while True:
            await patiently("payments' texts", self._listen)
            await self._have.lines.texts.wait()

    async def _listen(self) -> None:
        """
        Raises:
            Unavailable: the disk does not take it.
        """
        while found := texts.unread(self._have.reader, READ_AT_ONCE):
            for each in found:
                await self._read(each)
        for each in texts.waiting(self._have.reader, MAY_YET, LOOKED_AGAIN_MAX):
            await self._settle(each)

    async def _read(self, stored: BankText) -> None:
        found = self._heard(stored)
        if found is None:
            await self._commit(lambda conn: reading.leave(conn, stored.id, TextWhy.NO_METHOD))
            return
        at = self._have.now_ms()
        read = await self._commit(lambda conn: reading.read(conn, stored.id, found, at))
        log.info("payment.text", method=read.method, state=read.state.value, why=read.why)

    def _heard(self, stored: BankText) -> Read | None:
        """What the methods that listen to its carrier make of a text: the one that believes it,
        else the one that knows it best."""
        message = Inbound(
            sender=stored.sender,
            recipient=None,
            text=stored.body,
            received_at_ms=stored.received_at,
            service_centre=stored.service_centre,
        )
        best: Read | None = None
        for name, method in self._have.lines.listeners.items():
            if method.carrier != stored.carrier:
                continue
            found = Read(name, *_asked(name, method, message, self._currency))
            if found.reading.kind in _BELIEVED:
                return found
            if best is None or _rank(found) > _rank(best):
                best = found
        return best

    async def _settle(self, stored: BankText) -> None:
        """Credit what a text tells of, if it fits."""
        assert stored.method is not None, "what waits was read"
        method = self._have.lines.listeners.get(stored.method)
        caps = None if method is None else method.caps
        if caps is None:
            await self._put_off(stored, TextWhy.BY_OPERATOR.value)
            return
        payment_id = reading.whose(self._have.reader, stored)
        if not payment_id.startswith("pay_"):
            await self._put_off(stored, payment_id)
            return
        provider, at = stored.method, self._have.now_ms()
        unit = partial(reading.credit, text_id=stored.id, provider=provider, caps=caps, at=at)
        organization_id = self._organization_of(payment_id)
        try:
            await self._cashier.enter(organization_id, unit)
        except Withheld as error:
            await self._put_off(stored, error.why)

    def _organization_of(self, payment_id: str) -> str:
        return payments.payment(self._have.reader, payment_id).organization_id

    async def _put_off(self, stored: BankText, why: str) -> None:
        if why != stored.why:
            await self._commit(lambda conn: reading.put_off(conn, stored.id, why))

    async def _commit(self, unit: Unit[BankText]) -> BankText:
        return await self._have.recorder.journal.commit(unit)

    # -- the operator's

    def standing(self) -> tuple[LineStanding, ...]:
        """How the texts of each method stand."""
        return tuple(
            self._standing(name, method) for name, method in self._have.lines.listeners.items()
        )

    def _standing(self, name: str, method: HearsTexts) -> LineStanding:
        reader = self._have.reader
        since = self._have.now_ms() - reading.DAY_MS
        known, last = texts.balance(reader, name), texts.newest(reader, name)
        moved = texts.last_moved(reader, name)
        return LineStanding(
            method=name,
            carrier=method.carrier,
            caps=method.caps,
            credited=texts.credited_by_itself(reader, name, since),
            balance=None if known is None else known.balance,
            balance_at=None if known is None else known.at,
            balance_said_by=None if known is None else known.said_by,
            continues=None if moved is None else moved.continues,
            open=texts.count_open(reader, name),
            last_at=None if last is None else last.received_at,
        )

    async def reconcile(self, method: str, balance: int, who: str, by: Signature) -> None:
        """An operator says what a method's account has now: texts go on from there.

        Raises:
            NotFound: no such method hears texts.
        """
        if method not in self._have.lines.listeners:
            raise NotFound("No such payment method hears texts of its bank.")
        at = self._have.now_ms()
        unit = partial(texts.set_balance, method=method, amount=balance, at=at, said_by=who)
        await self._have.recorder.journal.commit(signed(by, unit))

    async def dismiss(self, text_id: str, who: str, by: Signature) -> BankText:
        """An operator says that nothing is to be done about a text.

        Raises:
            NotFound: there is no such text.
            Conflict: it is credited.
        """
        at = self._have.now_ms()

        def unit(conn: sqlite3.Connection) -> BankText:
            if texts.text(conn, text_id).state is TextState.CREDITED:
                raise Conflict("The text is credited already.")
            values = {"state": TextState.DISMISSED.value, "decided_by": who, "decided_at": at}
            return texts.change(conn, text_id, values)

        return await self._commit(signed(by, unit))


def _asked(
    name: str, method: HearsTexts, message: Inbound, currency: str
) -> tuple[TextReading, str | None]:
    """What a method reads, with the reference as it is compared; a bug of a plugin is no bug of
    ours."""
    try:
        found = method.heard(message)
        key = None if found.settled is None else key_of(found.settled.reference)
        if found.kind is TextKind.CREDIT:
            if found.settled is None or key is None or found.settled.amount <= 0:
                raise ValueError("a credit has a reference and an amount")
            if found.settled.currency != currency:
                raise ValueError("a credit is of another currency than balances are")
    except Exception:
        log.exception("payment.method_bug", method=name)
        return TextReading(TextKind.NO_PATTERN), None
    return found, key


def _rank(found: Read) -> int:
    return _HOPELESS.index(found.reading.kind)
