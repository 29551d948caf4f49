"""A customer's end of an SMPP session, and a house for the other end: the engine is a fake."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import trio
from trio.testing import memory_stream_pair

from risala.config.smpp_server import SmppServerSection
from risala.drivers.smpp.link import Link, LinkLimits
from risala.drivers.smpp.protocol.pdu import (
    BindTransceiver,
    DeliverSm,
    Pdu,
    SubmitSm,
    response_to,
)
from risala.drivers.smpp.protocol.session import SmppRole, SmppSession
from risala.engine.model.callers import Caller
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.errors import EngineError, NotFound, Refusal, Unauthorized
from risala.engine.model.events import EventType
from risala.engine.model.following import OwnEvent
from risala.engine.model.ids import key_of
from risala.engine.model.records.keys import KeyType
from risala.engine.model.records.messages import MessageView
from risala.engine.model.states import Mode
from risala.smpp_server.binds import BindDecisions
from risala.smpp_server.receipt_sender import ReceiptSenders
from risala.smpp_server.session import EsmeSession, House
from risala.smpp_server.session_registry import SessionRegistry, SmppAccount
from risala.sms.numbering.plan import DEFAULT

NOW_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z."""
ACCOUNT = SmppAccount("crd_1", "shop", Principal("org_1", "crd_1", KeyType.SECRET, Mode.LIVE))
PASSWORD = "s3cret12"


@dataclass
class FakeEngine:
    """Takes messages, as the gateway does, once :attr:`open` is set."""

    taken: list[SendMessage] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    singles: list[Principal] = field(default_factory=list)
    """Who asked for one message alone, which the gateway takes with others of the same turn."""
    refusals: dict[str, Refusal] = field(default_factory=dict)
    """By a message's text."""
    fails: EngineError | None = None
    views: dict[str, MessageView] = field(default_factory=dict)
    performed: list[tuple[str, dict[str, Any], Caller]] = field(default_factory=list)
    cannot: Refusal | None = None
    open: trio.Event = field(default_factory=trio.Event)
    """Nothing is on the disk before this."""
    _was_asked: trio.Event = field(default_factory=trio.Event)

    async def wait_asked(self) -> None:
        """Until a batch has come."""
        await self._was_asked.wait()

    async def send_message(self, principal: Principal, command: SendMessage) -> bytes:
        self.singles.append(principal)
        (answer,) = await self.send_batch(principal, (command,))
        if isinstance(answer, Refusal):
            raise answer
        return answer

    async def send_batch(
        self, principal: Principal, commands: Sequence[SendMessage]
    ) -> Sequence[bytes | Refusal]:
        self._was_asked.set()
        await self.open.wait()
        if self.fails is not None:
            raise self.fails
        self.batches.append(len(commands))
        return [self.refusals.get(each.body) or self._take(each) for each in commands]

    def _take(self, command: SendMessage) -> bytes:
        self.taken.append(command)
        return json.dumps({"messageId": f"sms_{len(self.taken)}"}).encode()

    def get_message(self, principal: Principal, message_id: str) -> MessageView:
        if message_id not in self.views:
            raise NotFound("There is no message with this id.")
        return self.views[message_id]

    def get_numbered(self, principal: Principal, key: int) -> MessageView:
        found = [each for each in self.views.values() if key_of(each.id) == key]
        if not found:
            raise NotFound("There is no message with this id.")
        return found[0]

    async def perform(self, name: str, arguments: dict[str, Any], caller: Caller) -> dict[str, Any]:
        await trio.lowlevel.checkpoint()
        if self.cannot is not None:
            raise self.cannot
        self.performed.append((name, arguments, caller))
        return {}


@dataclass
class FakeGuard:
    """Counts failed binds."""

    failed: list[str | None] = field(default_factory=list)

    def bucket(self, peer: str | None) -> Hashable:
        return peer

    async def hold(self, peer: str | None) -> None:
        await trio.lowlevel.checkpoint()
        self.failed.append(peer)


class FakeOutbox:
    """The events, and where each credential is among them."""

    def __init__(self) -> None:
        self.events: list[OwnEvent] = []
        self.kept: dict[str, int] = {}
        self.forgotten: list[str] = []
        self._came = trio.Event()

    def tell(self, *events: OwnEvent) -> None:
        self.events += events
        self._came.set()
        self._came = trio.Event()

    async def open(self, account: SmppAccount) -> FakeCursor:
        await trio.lowlevel.checkpoint()
        last = self.events[-1].seq if self.events else 0
        self.kept.setdefault(account.credential_id, last)
        return FakeCursor(self, account.credential_id)

    async def forget(self, account: SmppAccount) -> None:
        await trio.lowlevel.checkpoint()
        self.forgotten.append(account.credential_id)

    async def wait(self) -> None:
        await self._came.wait()


class FakeCursor:
    def __init__(self, outbox: FakeOutbox, consumer: str) -> None:
        self._outbox = outbox
        self._consumer = consumer
        self._given = outbox.kept[consumer]

    async def next(self, limit: int) -> list[OwnEvent]:
        await trio.lowlevel.checkpoint()
        while not (found := [e for e in self._outbox.events if e.seq > self._given][:limit]):
            await self._outbox.wait()
        self._given = found[-1].seq
        return found

    async def keep(self, seq: int) -> None:
        await trio.lowlevel.checkpoint()
        self._outbox.kept[self._consumer] = seq

    def rewind(self) -> None:
        self._given = self._outbox.kept[self._consumer]


class Premises:
    """A house whose engine is a fake, and what came of it."""

    def __init__(self, **settings: object) -> None:
        self.engine = FakeEngine()
        self.engine.open.set()
        self.guard = FakeGuard()
        self.roster = SessionRegistry()
        self.account = ACCOUNT
        self.asked_for: list[str] = []
        """Names that were looked for."""
        self.refuses: EngineError | None = None
        """Raised for every right password."""
        section = SmppServerSection.model_validate(settings)
        self.outbox = FakeOutbox()
        couriers = ReceiptSenders(
            self.outbox.open,
            self.outbox.forget,
            window_max=section.deliver_window_max,
            counts=self.roster.counts,
        )
        decisions = BindDecisions(section, self.roster, self._admit, self.guard, couriers.prepare)
        self.house = House(
            section, DEFAULT, self.engine, decisions, self.roster, lambda: NOW_MS, couriers
        )

    async def _admit(self, system_id: str, password: str, address: object) -> SmppAccount:
        await trio.lowlevel.checkpoint()
        self.asked_for.append(system_id)
        if password != PASSWORD:
            raise Unauthorized
        if self.refuses is not None:
            raise self.refuses
        return replace(self.account, system_id=system_id, credential_id=f"crd_{system_id}")

    @asynccontextmanager
    async def customer(self, peer: str = "192.0.2.7") -> AsyncIterator[Customer]:
        """A connection, not bound yet."""
        ours, theirs = memory_stream_pair()
        async with self.serving(ours, peer) as session, trio.open_nursery() as nursery:
            customer = Customer(theirs, session)
            nursery.start_soon(customer.link.run)
            try:
                yield customer
            finally:
                customer.link.end("the test is over")

    @asynccontextmanager
    async def serving(
        self, stream: trio.abc.Stream, peer: str = "192.0.2.7"
    ) -> AsyncIterator[EsmeSession]:
        """A session at our end of a wire."""
        session = EsmeSession(self.house, stream, peer, is_tls=False)
        self.roster.add(session)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(session.run)
            try:
                yield session
            finally:
                nursery.cancel_scope.cancel()
        self.roster.remove(session)


class Customer:
    """The customer's end: takes every ``deliver_sm``, unless told otherwise."""

    def __init__(self, stream: trio.abc.Stream, session: EsmeSession | None = None) -> None:
        self.session = session
        self.stream = stream
        self.delivered: list[DeliverSm] = []
        self._arrived = trio.Event()
        self.troubles: list[str] = []
        self.takes = 0
        """The ``command_status`` of its answers; below 0 it does not answer."""
        limits = LinkLimits(response_timeout_s=60, enquire_link_s=3600, window_max=1000)
        self.link = Link(stream, SmppSession(SmppRole.ESME), self, limits)

    def on_request(self, link: Link, request: Pdu) -> None:
        if isinstance(request, DeliverSm):
            self.delivered.append(request)
            self._arrived.set()
            if self.takes >= 0:
                link.respond(request, response_to(request, self.takes))

    def on_late(self, link: Link, token: object, response: Pdu) -> None:
        self.troubles.append(f"{response.name} came late")

    def on_trouble(self, link: Link, text: str) -> None:
        self.troubles.append(text)

    async def bind(self, system_id: str = "shop", password: str = PASSWORD, **fields: Any) -> Pdu:
        kind = fields.pop("kind", BindTransceiver)
        return await self.link.request_beyond_window(kind(system_id, password, **fields))

    async def wait_delivered(self, count: int) -> None:
        while len(self.delivered) < count:
            self._arrived = trio.Event()
            await self._arrived.wait()

    async def ask(self, request: Pdu) -> Pdu:
        return await self.link.request(request)


def submit(text: str = "Hello", **fields: Any) -> SubmitSm:
    """A ``submit_sm`` with an ASCII text, to a number of ours."""
    known: dict[str, Any] = {
        "dest_addr_ton": 1,
        "dest_addr_npi": 1,
        "destination_addr": "22236123456",
        "short_message": text.encode(),
        **fields,
    }
    return SubmitSm(**known)


def view(status: str, **fields: Any) -> MessageView:
    """A message of the organization's, as the engine tells it."""
    known: dict[str, Any] = {
        "id": "sms_1", "organization_id": "org_1", "mode": Mode.LIVE, "kind": "sms",
        "to": "+22236123456", "sender": "SHOP", "body": "x", "status": status, "segments": 1,
        "encoding": "gsm7", "price": 50, "currency": "MRU", "attempts": 1, "carrier": "a",
        "provider_message_id": None, "error_code": None, "carrier_code": None, "metadata": {},
        "send_at": None, "sent_at": None, "delivered_at": None, "created_at": NOW_MS,
        "updated_at": NOW_MS,
    }  # fmt: skip
    return MessageView(**{**known, **fields})


def event(seq: int, kind: EventType = EventType.SMS_DELIVERED, **told: Any) -> OwnEvent:
    """What happened to ``sms_SEQ``; its receipts were asked for."""
    known: dict[str, Any] = {
        "message_id": f"sms_{seq}",
        "recipient": "+22236123456",
        "sender": "SHOP",
        "status": "delivered" if kind is EventType.SMS_DELIVERED else "failed",
        "error_code": None,
        "carrier_code": None,
        "metadata": {"smpp.receipt": "1"},
        "accepted_at": NOW_MS,
        **told,
    }
    return OwnEvent(seq, kind, NOW_MS, **known)
