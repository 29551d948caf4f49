"""An SMSC to send to: the same session as the driver's, in its other role.

A phone network in one process: it answers binds and submits, joins concatenated messages and hands
each whole one over, sends receipts, and keeps those of an ESME that is away. Its reactions are a
:class:`~risala.lab.smsc.behaviour.Behaviour`. See docs/reference/smsc-simulator.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import trio

from risala.drivers.smpp.link import Link, LinkLimits
from risala.drivers.smpp.protocol.pdu import AlertNotification, DataSm, DeliverSm
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession
from risala.drivers.smpp.server_tls import HandshakeError, shake_hands
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
from risala.lab.smsc.exchange import Exchange, wall_ms
from risala.lab.smsc.mailroom import MailRoom
from risala.lab.smsc.mishaps import Wire
from risala.lab.smsc.store import Timetable
from risala.lab.smsc.traffic import InboundPlan, Phones

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


def unheard(_: object) -> None:
    pass


class SmscSimulator:
    """One simulated SMSC.

    Args:
        behaviour: how it reacts; by ``config`` when not given.
        inbound: messages that phones send by themselves.
        on_event: called with each event. Must not block.
        on_message: called with each whole message, once.
        now_ms: UTC epoch milliseconds, for dates in receipts and for the first message id.
    """

    def __init__(
        self,
        config: SimulatorConfig | None = None,
        *,
        behaviour: Behaviour | None = None,
        inbound: InboundPlan | None = None,
        on_event: Callable[[SimulatorEvent], None] = unheard,
        on_message: Callable[[ReceivedMessage], None] = unheard,
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        config = config or SimulatorConfig()
        self._exchange = Exchange(
            config,
            behaviour or _steady(config),
            on_event=on_event,
            on_message=on_message,
            now_ms=now_ms,
        )
        self._mails = MailRoom(self._exchange)
        self.phones = Phones(inbound, self.deliver)
        self._links: set[Link] = set()
        self._shaking = 0

    async def run(self, *, task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; ``task_status`` is started with the port."""
        listeners = await trio.open_tcp_listeners(self.config.port, host=self.config.host)
        port: int = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.timetable.run)
            nursery.start_soon(self.phones.run)
            nursery.start_soon(partial(trio.serve_listeners, self.serve_stream, listeners))
            self._exchange.on_event(Listening(self.config.host, port))
            task_status.started(port)

    async def serve_stream(self, stream: trio.abc.Stream) -> None:
        """Serve one connection, until it ends."""
        config = self.config
        if len(self._links) + self._shaking >= config.connections_max:
            self._exchange.on_event(Trouble("", "A connection was turned away: too many."))
            await trio.aclose_forcefully(stream)
            return
        if config.tls is not None:
            self._shaking += 1
            try:
                stream = await shake_hands(stream, config.tls, config.bind_timeout_s)
            except HandshakeError as fault:
                self._exchange.on_event(Trouble("", f"No TLS with a client: {fault}."))
                return
            finally:
                self._shaking -= 1
        wire = Wire(stream, piece_octets=config.piece_octets, piece_after_s=config.piece_after_s)
        connection = SmscConnection(self._exchange, self._mails, wire)
        limits = LinkLimits(config.response_timeout_s, config.enquire_link_s)
        link = Link(wire, SmppSession(SmppRole.SMSC), connection, limits)
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
    def config(self) -> SimulatorConfig:
        return self._exchange.config

    @property
    def behaviour(self) -> Behaviour:
        return self._exchange.behaviour

    @property
    def timetable(self) -> Timetable:
        return self._exchange.timetable

    @property
    def receipts_waiting(self) -> int:
        """Receipts and inbound messages that are due, on their way, or wait for their ESME."""
        return self._exchange.receipts_waiting

    @property
    def bound(self) -> int:
        """Connections that can take receipts and messages."""
        return self._exchange.bound

    def deliver(self, *pdus: DeliverSm | DataSm, system_id: str | None = None) -> bool:
        """Let phones send messages to this account, or to any connected one; False: to none."""
        return self._exchange.deliver(*pdus, system_id=system_id)

    def alert(self, alert: AlertNotification, *, system_id: str | None = None) -> bool:
        """Send an ``alert_notification`` to this account, or to any connected one; False: to
        none."""
        return self._exchange.alert(alert, system_id=system_id)

    def drop_links(self) -> None:
        """Break every connection, without an unbind."""
        for link in list(self._links):
            link.end("dropped")


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
