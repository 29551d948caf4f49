"""Customers who come by SMPP: real sessions over wires in memory, with software that is not kind.

What their software was answered and has taken outlives the kills; at the end each message whose
receipts were asked for must have had one, and each text from a phone must have come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from tests.simulation import machine
from trio.testing import memory_stream_pair

from risala.app.smpp import build_house
from risala.config.smpp_server import SmppServerSection
from risala.drivers.smpp.link import Link, LinkLimits
from risala.drivers.smpp.protocol.pdu import (
    BindReceiver,
    DeliverSm,
    Pdu,
    response_to,
)
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession
from risala.drivers.smpp.protocol.tlv import MESSAGE_STATE, RECEIPTED_MESSAGE_ID, find
from risala.engine.wiring.engine import Engine
from risala.smpp_server.session import EsmeSession, House
from risala.smpp_server.session_registry import SessionRegistry

if TYPE_CHECKING:
    from tests.simulation.world import World

MANNERS = ("kind", "kind", "busy", "mute", "rude")
"""How a customer's software takes what is delivered: ``busy`` says "not now" for a while, ``mute``
does not answer, ``rude`` goes without a word."""
ESME_RMSGQFUL = 0x14
REFUSALS = 3
"""That a receipt gets, of one life: a few more, and it is passed over."""


class Esmes:
    """What customers know who speak SMPP; it outlives the kills."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.open: House | None = None
        """Where sessions begin, in this life."""
        self.ids: dict[tuple[str, str], str] = {}
        """Name and idempotency key → the id that was answered."""
        self.receipts: dict[str, set[int]] = {}
        """Message → the states that receipts told."""
        self.texts: Counter[tuple[str, str]] = Counter()
        """What came from phones: number and text."""
        self.refusals: Counter[tuple[int, str]] = Counter()
        """Of a receipt, in one life."""

    @asynccontextmanager
    async def serving(self, engine: Engine) -> AsyncIterator[None]:
        """Customers may bind, as long as the block lasts."""
        settings = SmppServerSection(enabled=True, binds_per_minute=10_000)
        self.open = build_house(settings, engine, _Guard(), SessionRegistry())
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(self.open.couriers.run)
                yield
                nursery.cancel_scope.cancel()
        finally:
            self.open = None

    @asynccontextmanager
    async def session(self, manner: str) -> AsyncIterator[Software]:
        """A connection, not bound yet; at the end of the block the customer's end goes."""
        assert self.open is not None, "customers come while the service runs"
        ours, theirs = memory_stream_pair()
        server = EsmeSession(self.open, ours, "192.0.2.7", is_tls=False)
        roster = self.open.roster
        roster.add(server)
        try:
            async with trio.open_nursery() as nursery:
                software = Software(self._world, theirs, manner)
                nursery.start_soon(self._serve, server)
                nursery.start_soon(software.link.run)
                yield software
                software.link.end("it goes")
        finally:
            roster.remove(server)

    async def _serve(self, session: EsmeSession) -> None:
        """A bug ends one connection, as in the server."""
        try:
            await session.run()
        except* machine.SimulatedBug as bug:
            self._world.say("a session ends", bug.exceptions[0])

    async def bind_once(self, name: str, password: str) -> None:
        """From its first bind on things are owed to a credential."""
        async with self.session("kind") as software:
            await software.link.request_beyond_window(BindReceiver(name, password))

    async def stay(self, name: str, password: str) -> None:
        """Be bound, and take what is owed."""
        async with self.session("kind") as software:
            await software.link.request_beyond_window(BindReceiver(name, password))
            await trio.sleep_forever()


class _Guard:
    """Nobody guesses."""

    def bucket(self, peer: str | None) -> Hashable:
        return peer

    async def hold(self, peer: str | None) -> None:
        await trio.lowlevel.checkpoint()


class Software:
    """The customer's end of one connection."""

    def __init__(self, world: World, stream: trio.abc.Stream, manner: str) -> None:
        self._world = world
        self._life = world.life
        self._manner = manner
        limits = LinkLimits(response_timeout_s=60, enquire_link_s=3600, window_max=100)
        self.link = Link(stream, SmppSession(SmppRole.ESME), self, limits)

    def on_request(self, link: Link, request: Pdu) -> None:
        if not isinstance(request, DeliverSm):
            return
        if self._manner == "rude":
            link.end("it has seen enough")
        elif self._manner != "mute":
            link.respond(request, response_to(request, self._take(request)))

    def _take(self, request: DeliverSm) -> int:
        """What was delivered is written down, or refused; the ``command_status`` of the answer."""
        told, known = self._world.esmes, find(request.tlvs, RECEIPTED_MESSAGE_ID)
        if self._world.gone(self._life):
            return 0
        if known is None:
            text = bytes(request.short_message).decode("ascii")
            told.texts[request.source_addr, text] += 1
            return 0
        message_id = known.value.rstrip(b"\0").decode()
        if self._manner == "busy" and told.refusals[self._life, message_id] < REFUSALS:
            told.refusals[self._life, message_id] += 1
            return ESME_RMSGQFUL
        state = find(request.tlvs, MESSAGE_STATE)
        assert state is not None
        told.receipts.setdefault(message_id, set()).add(state.value[0])
        return 0

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        """It has gone on."""

    def on_trouble(self, link: Link, text: str) -> None:
        self._world.fault(f"a customer's SMPP software has trouble: {text}")
