"""The shared state of a simulated SMSC: accounts, ids, and items kept for ESMEs.

It answers no request itself: :mod:`risala.lab.smsc.connection` answers them, and
:mod:`risala.lab.smsc.mailroom` keeps the messages; both use this state.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from risala.drivers.smpp.protocol.pdu import AlertNotification, DataSm, DeliverSm
from risala.drivers.smpp.protocol.submit import decode_message, readable_address
from risala.lab.smsc.behaviour import Behaviour
from risala.lab.smsc.config import SimulatorConfig
from risala.lab.smsc.events import (
    InboundSent,
    MessageReceived,
    ReceiptSent,
    ReceivedMessage,
    SimulatorEvent,
    Submitted,
)
from risala.lab.smsc.receipts import ids_of
from risala.lab.smsc.store import Account, StoredDelivery, Timetable
from risala.sms.assembly import Assembler
from risala.sms.evident import InboundCoding
from risala.sms.segment import join

_ID_COUNTER_BITS: Final = 20
"""Bits of an id that count messages; the bits above are the millisecond of the start. Ids of two
runs differ unless one run takes a million messages for each millisecond until the next."""


def wall_ms() -> int:
    """UTC epoch milliseconds."""
    return time.time_ns() // 1_000_000


class Exchange:
    """The state that all connections of one simulated SMSC share.

    Args: as :class:`~risala.lab.smsc.simulator.SmscSimulator` takes them.
    """

    def __init__(
        self,
        config: SimulatorConfig,
        behaviour: Behaviour,
        *,
        on_event: Callable[[SimulatorEvent], None],
        on_message: Callable[[ReceivedMessage], None],
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        self.config = config
        self.behaviour = behaviour
        self.on_event = on_event
        self.now_ms = now_ms
        self.timetable = Timetable()
        self.planned = 0
        """How many steps of messages are planned."""
        self.binds = 0
        """How many binds were taken so far."""
        self._on_message = on_message
        self._assembler = Assembler()
        self._accounts: dict[str, Account] = {}
        self._kept = 0
        self._unanswered = 0
        self._next_id = now_ms() << _ID_COUNTER_BITS

    @property
    def receipts_waiting(self) -> int:
        """Receipts and inbound messages that are due, on their way, or wait for their ESME."""
        return self._kept + self.planned

    @property
    def bound(self) -> int:
        """Connections that can take receipts and messages."""
        return sum(len(account.receivers) for account in self._accounts.values())

    def deliver(self, *pdus: DeliverSm | DataSm, system_id: str | None = None) -> bool:
        """Let phones send messages to this account, or to any connected one; False: to none."""
        account = self._account_named(system_id)
        if account is None or self.receipts_waiting + len(pdus) > self.config.store_max:
            return False
        for pdu in pdus:
            self.keep(account, StoredDelivery(pdu))
        return True

    def alert(self, alert: AlertNotification, *, system_id: str | None = None) -> bool:
        """Send an alert to this account, or to any that is there; False: no link of it hears it.

        It asks for no answer, so it is not kept either.
        """
        account = self._account_named(system_id)
        return account is not None and account.alert(alert)

    def _account_named(self, system_id: str | None) -> Account | None:
        """The account of that name; None selects any, preferably one with a receiver."""
        if system_id is not None:
            return self._accounts.get(system_id)
        accounts = list(self._accounts.values())
        listening = [one for one in accounts if one.receivers]
        return next(iter(listening or accounts), None)

    def account(self, system_id: str) -> Account | None:
        """The account's store; None if there are too many accounts."""
        account = self._accounts.get(system_id)
        if account is None and len(self._accounts) < self.config.accounts_max:
            account = self._accounts[system_id] = Account(
                system_id,
                window_max=self.config.deliver_window_max,
                retry_s=self.config.receipt_retry_s,
                to_last=self.config.delivers_to_last,
                timetable=self.timetable,
                on_answer=self._answered,
                on_gone=self._gone,
            )
        return account

    @property
    def is_full(self) -> bool:
        config = self.config
        return (
            self.receipts_waiting >= config.store_max or self._unanswered >= config.unanswered_max
        )

    def answer(self, wait_s: float, action: Callable[[], None]) -> None:
        """Give an answer after ``wait_s``, or at once if too many answers wait already."""
        if wait_s <= 0.0 or self._unanswered >= self.config.unanswered_max:
            action()
            return

        def due() -> None:
            self._unanswered -= 1
            action()

        self._unanswered += 1
        self.timetable.after(wait_s, due)

    def new_ids(self) -> tuple[str, str]:
        """A message id as the answer writes it, and as receipts will."""
        self._next_id += 1
        return ids_of(self._next_id, self.config.id_form)

    def accepted(self, account: Account, submitted: Submitted) -> None:
        """Join a segment that was taken; hand the message over when it is whole."""
        sender, recipient = submitted.sender, submitted.recipient
        if submitted.concatenation is None:
            text, segments = join([submitted.text]), 1
        else:
            whole = self._assembler.add(
                submitted.text, submitted.concatenation, account.system_id, sender, recipient
            )
            self._assembler.give_way()  # phones too forget parts of messages that stay incomplete
            self._assembler.forget_finished(0.0)
            if whole is None:
                return
            text, segments = whole.text, whole.segments
        message = ReceivedMessage(
            at_ms=self.now_ms(),
            carrier=self.config.name,
            system_id=account.system_id,
            sender=sender,
            recipient=recipient,
            text=text,
            segments=segments,
            flash=submitted.flash,
        )
        self.on_event(MessageReceived(message))
        self._on_message(message)

    def keep(self, account: Account, kept: StoredDelivery) -> None:
        """Send a receipt as soon as its ESME takes it."""
        self._kept += 1
        account.put(kept)

    def _answered(self, system_id: str, kept: StoredDelivery, command_status: int) -> None:
        pdu = kept.pdu
        if kept.state is not None:
            event: SimulatorEvent = ReceiptSent(
                system_id, kept.message_id, kept.state, command_status
            )
        else:
            decoded = decode_message(pdu, self.config.default_alphabet, InboundCoding.DECLARED)
            event = InboundSent(
                system_id,
                readable_address(pdu.source_addr_ton, pdu.source_addr),
                readable_address(pdu.dest_addr_ton, pdu.destination_addr),
                decoded.text,
                decoded.concatenation,
                command_status,
            )
        self.on_event(event)

    def _gone(self) -> None:
        self._kept -= 1
