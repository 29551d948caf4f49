"""An SMSC to send to: the same session as the driver's, in its other role.

A phone network in one process: it answers binds and submits, joins concatenated messages and
hands each whole one over, sends receipts, and keeps those of an ESME that is away. How it reacts
is a :class:`~risala.lab.smsc.behaviour.Behaviour`. See docs/reference/smsc-simulator.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Final

import trio

from risala.drivers.smpp.assembly import Assembler
from risala.drivers.smpp.link import Link, LinkLimits
from risala.drivers.smpp.protocol.pdu import DataSm, DeliverSm
from risala.drivers.smpp.protocol.session import Role, Session
from risala.drivers.smpp.protocol.submit import decode_message, readable_address
from risala.lab.smsc.behaviour import Behaviour, SteadyBehaviour
from risala.lab.smsc.config import SimulatorConfig
from risala.lab.smsc.connection import SmscConnection
from risala.lab.smsc.events import (
    BindRefused,
    Bound,
    Changed,
    InboundSent,
    Listening,
    MessageReceived,
    ReceiptSent,
    ReceivedMessage,
    SimulatorEvent,
    Submitted,
    Trouble,
    Unbound,
)
from risala.lab.smsc.mailroom import MailRoom
from risala.lab.smsc.receipts import ids_of
from risala.lab.smsc.store import Account, Kept, Timetable
from risala.lab.smsc.tls import HandshakeError, shake_hands
from risala.lab.smsc.traffic import InboundPlan, Phones
from risala.lab.smsc.wire import Wire

__all__ = [
    "BindRefused",
    "Bound",
    "Changed",
    "InboundSent",
    "Listening",
    "MessageReceived",
    "ReceiptSent",
    "ReceivedMessage",
    "SimulatorConfig",
    "SimulatorEvent",
    "SmscSimulator",
    "Submitted",
    "Trouble",
    "Unbound",
    "run_simulator",
]

_ID_COUNTER_BITS: Final = 20
"""Room for a million messages in each millisecond of running before ids of two runs could meet."""


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


def _nothing(_: object) -> None:
    pass


class SmscSimulator:
    """One simulated SMSC.

    Args:
        behaviour: its temper; from ``config`` when not given.
        inbound: messages that phones send by themselves.
        on_event: hears everything, as it happens. Must not block.
        on_message: hears each whole message, once.
        now_ms: UTC epoch milliseconds: dates in receipts, and where message ids begin.
    """

    def __init__(
        self,
        config: SimulatorConfig | None = None,
        *,
        behaviour: Behaviour | None = None,
        inbound: InboundPlan | None = None,
        on_event: Callable[[SimulatorEvent], None] = _nothing,
        on_message: Callable[[ReceivedMessage], None] = _nothing,
        now_ms: Callable[[], int] = _wall_ms,
    ) -> None:
        self.config = config or SimulatorConfig()
        self.behaviour = behaviour or _steady(self.config)
        self.on_event = on_event
        self.now_ms = now_ms
        self.timetable = Timetable()
        self.mails = MailRoom(self)
        self.phones = Phones(inbound, self.deliver)
        self._on_message = on_message
        self._assembler = Assembler()
        self._accounts: dict[str, Account] = {}
        self._links: set[Link] = set()
        self._shaking = 0
        self._kept = 0
        self._unanswered = 0
        self._next_id = now_ms() << _ID_COUNTER_BITS

    async def run(self, *, task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; ``task_status`` is started with the port."""
        listeners = await trio.open_tcp_listeners(self.config.port, host=self.config.host)
        port: int = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.timetable.run)
            nursery.start_soon(self.phones.run)
            nursery.start_soon(partial(trio.serve_listeners, self.serve_stream, listeners))
            self.on_event(Listening(self.config.host, port))
            task_status.started(port)

    async def serve_stream(self, stream: trio.abc.Stream) -> None:
        """Serve one connection, until it ends."""
        config = self.config
        if len(self._links) + self._shaking >= config.connections_max:
            self.on_event(Trouble("", "A connection was turned away: too many."))
            await trio.aclose_forcefully(stream)
            return
        if config.tls is not None:
            self._shaking += 1
            try:
                stream = await shake_hands(stream, config.tls, config.bind_timeout_s)
            except HandshakeError as fault:
                self.on_event(Trouble("", f"No TLS with a client: {fault}."))
                return
            finally:
                self._shaking -= 1
        wire = Wire(stream, piece_octets=config.piece_octets, piece_after_s=config.piece_after_s)
        connection = SmscConnection(self, wire)
        limits = LinkLimits(config.response_timeout_s, config.enquire_link_s)
        link = Link(wire, Session(Role.SMSC), connection, limits)
        self._links.add(link)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(link.run)
                try:
                    await self._watch(link, connection)
                finally:
                    link.end("the simulator stopped")
        finally:
            self._links.discard(link)
            connection.ended(link)

    async def _watch(self, link: Link, connection: SmscConnection) -> None:
        with trio.move_on_after(self.config.bind_timeout_s):
            await link.wait_ended()
            return
        if not connection.is_bound:
            link.end("no bind in time")
        await link.wait_ended()

    # -- for tests and a console -------------------------------------------------------------

    @property
    def receipts_kept(self) -> int:
        """Receipts and inbound messages that are due, on their way, or wait for their ESME."""
        return self._kept + self.mails.planned

    @property
    def bound(self) -> int:
        """Connections that can take receipts and messages."""
        return sum(len(account.receivers) for account in self._accounts.values())

    def deliver(self, *pdus: DeliverSm | DataSm, system_id: str | None = None) -> bool:
        """Have phones' messages sent, to this account or to any that is there; False: to none."""
        accounts = list(self._accounts.values())
        if system_id is not None:
            account = self._accounts.get(system_id)
        else:
            listening = [one for one in accounts if one.receivers]
            account = next(iter(listening or accounts), None)
        if account is None or self.receipts_kept + len(pdus) > self.config.store_max:
            return False
        for pdu in pdus:
            self.keep(account, Kept(pdu))
        return True

    def drop_links(self) -> None:
        """Break every connection, without a word."""
        for link in list(self._links):
            link.end("dropped")

    # -- for connections ---------------------------------------------------------------------

    def account(self, system_id: str) -> Account | None:
        """The account's store; None where there are too many accounts."""
        account = self._accounts.get(system_id)
        if account is None and len(self._accounts) < self.config.accounts_max:
            account = self._accounts[system_id] = Account(
                system_id,
                window_max=self.config.deliver_window_max,
                retry_s=self.config.receipt_retry_s,
                timetable=self.timetable,
                on_answer=self._answered,
                on_gone=self._gone,
            )
        return account

    @property
    def is_full(self) -> bool:
        config = self.config
        return self.receipts_kept >= config.store_max or self._unanswered >= config.unanswered_max

    def answer(self, wait_s: float, action: Callable[[], None]) -> None:
        """Give an answer, now or later; now where too many wait already."""
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

    def taken(self, account: Account, submitted: Submitted) -> None:
        """A segment was taken: join it, and hand the message over when it is whole."""
        sender, recipient = submitted.sender, submitted.recipient
        whole = self._assembler.add(
            submitted.text, submitted.concatenation, account.system_id, sender, recipient
        )
        self._assembler.give_way()  # a phone forgets parts whose others never come
        self._assembler.forget_finished(0.0)
        if whole is None:
            return
        message = ReceivedMessage(
            at_ms=self.now_ms(),
            carrier=self.config.name,
            system_id=account.system_id,
            sender=sender,
            recipient=recipient,
            text=whole.text,
            segments=whole.segments,
        )
        self.on_event(MessageReceived(message))
        self._on_message(message)

    def keep(self, account: Account, kept: Kept) -> None:
        """Have a receipt sent as soon as its ESME takes it."""
        self._kept += 1
        account.put(kept)

    def _answered(self, system_id: str, kept: Kept, command_status: int) -> None:
        pdu = kept.pdu
        if kept.state is not None:
            event: SimulatorEvent = ReceiptSent(
                system_id, kept.message_id, kept.state, command_status
            )
        else:
            decoded = decode_message(pdu, self.config.default_alphabet)
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


def _steady(config: SimulatorConfig) -> SteadyBehaviour:
    return SteadyBehaviour(
        accounts=config.accounts,
        answer_after_s=config.answer_after_s,
        receipt_after_s=config.receipt_after_s,
        receipt_state=config.receipt_state,
        rate_per_s=config.rate_per_s,
    )


async def run_simulator(
    config: SimulatorConfig,
    *,
    on_event: Callable[[SimulatorEvent], None],
    task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Run a simulated SMSC until cancelled; started with its port.

    Raises:
        OSError: it cannot listen there.
    """
    await SmscSimulator(config, on_event=on_event).run(task_status=task_status)
