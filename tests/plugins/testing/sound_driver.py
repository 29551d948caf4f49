"""A driver that does all that the contract says, with its carrier in memory, and its suite.

``bad_drivers.py`` spoils one thing at a time in it.
"""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest
import trio
from trio.testing import MockClock

from risala.plugins.contract import (
    Accepted,
    Capabilities,
    Cause,
    CommandRefusedError,
    DriverCommand,
    Health,
    HealthState,
    Inbound,
    NotStoredError,
    NotTaken,
    Receipt,
    ReceiptState,
    Uncertain,
    Unsent,
)
from risala.plugins.testing.conformance import CarrierGot, DriverConformance

PASSWORD = "pa55word"
CLAIMS = Capabilities(
    alphanumeric_sender=True,
    receipts=True,
    inbound=True,
    query=True,
    validity=True,
    window_max=10,
    submit_s=2.0,
    account="carrier.example user",
)


@dataclass
class Carrier:
    """What is at the other end."""

    got: list[CarrierGot] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    mute: bool = False
    cut: trio.Event = field(default_factory=trio.Event)
    """Set: the link breaks."""
    texts: Any = field(default_factory=lambda: trio.open_memory_channel(10))
    receipts: Any = field(default_factory=lambda: trio.open_memory_channel(1000))
    count: int = 0


class Sound:
    capabilities = CLAIMS
    numbers: ClassVar = iter(range(1, 1_000_000))

    def __init__(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self.context: Any = None
        self.is_up = False

    async def run(self, context, *, task_status=trio.TASK_STATUS_IGNORED):
        task_status.started()
        self.context = context
        try:
            while True:
                self.carrier.cut = trio.Event()
                self.is_up = True
                context.health(Health(HealthState.UP, "The carrier is there."))
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self.bring_receipts)
                    nursery.start_soon(self.bring_texts)
                    await self.carrier.cut.wait()
                    nursery.cancel_scope.cancel()
                self.is_up = False
                context.health(Health(HealthState.DOWN, "The link broke."))
                await trio.sleep(0.1)
        finally:
            self.is_up = False

    async def submit(self, segment):
        await trio.lowlevel.checkpoint()
        if not self.is_up:
            return Unsent("NO_LINK")
        if self.carrier.mute:
            await trio.sleep(1)
            return Uncertain("TIMEOUT")
        self.context.traffic(True, "submit to …{}".format, segment.recipient[-4:])
        self.carrier.got.append(self.as_sent(segment))
        carrier_id = self.name_of(segment)
        self.carrier.ids.append(carrier_id)
        self.carrier.receipts[0].send_nowait(carrier_id)
        return Accepted(carrier_id)

    def name_of(self, segment):
        """Its id at the carrier."""
        return f"id-{next(self.numbers)}"

    def as_sent(self, segment):
        """What goes over the wire."""
        place = segment.place
        told = (place.number, place.total, place.reference) if place else ()
        return CarrierGot(
            *(segment.sender, segment.recipient, segment.text, segment.expires_at_ms),
            *told,
            flash=segment.message_class == 0,
        )

    async def query(self, carrier_id, *, sender):
        await trio.lowlevel.checkpoint()
        known = carrier_id in self.carrier.ids
        return Receipt(carrier_id, ReceiptState.DELIVERED, "DELIVRD") if known else None

    async def bring_receipts(self):
        while True:
            await self.bring_receipt(await self.carrier.receipts[1].receive())

    async def bring_receipt(self, carrier_id):
        await self.store(
            self.context.receipt, Receipt(carrier_id, ReceiptState.DELIVERED, "DELIVRD")
        )

    async def bring_texts(self):
        while True:
            sender, text = await self.carrier.texts[1].receive()
            await self.store(self.context.inbound, Inbound(sender, None, text, 0))

    async def store(self, hand, what):
        while True:
            try:
                return await hand(what)
            except NotStoredError:
                await trio.sleep(0.01)


class Posted(Sound):
    """The same, which can be posted to, has a command and declines a long message."""

    def __init__(self, carrier):
        super().__init__(carrier)
        self.waiting = trio.open_memory_channel(100)

    async def bring_texts(self):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(super().bring_texts)
            while True:
                segment, answered = await self.waiting[1].receive()
                nursery.start_soon(self.answer_posted, segment, answered)

    def post(self, segment, answered):
        if self.is_up:
            self.waiting[0].send_nowait((segment, answered))
        else:
            answered(Unsent("NO_LINK", cause=Cause.LINK_DOWN))

    async def answer_posted(self, segment, answered):
        answered(await self.submit(segment))

    commands = (DriverCommand("balance", "What is left on the account."),)

    async def command(self, name, arguments):
        await trio.lowlevel.checkpoint()
        raise CommandRefusedError("There is no such command.")

    def declines(self, recipient, segments, *, is_next=False):
        return None


class KnowsIds(Sound):
    """Its carrier takes each id once; asked about one that it does not have, it says so."""

    def name_of(self, segment):
        return f"{segment.message_id}-{segment.attempt}-{segment.number}"

    async def submit(self, segment):
        name = self.name_of(segment)
        if name in self.carrier.ids and self.is_up:
            await trio.lowlevel.checkpoint()
            return Accepted(name)
        return await super().submit(segment)

    async def query(self, carrier_id, *, sender):
        return await super().query(carrier_id, sender=sender) or NotTaken("404")


class Fetched(Sound):
    """Its carrier asks for its messages, and reports each at once unless it is mute."""

    def __init__(self, carrier):
        super().__init__(carrier)
        self.ready = {}

    async def bring_texts(self):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(super().bring_texts)
            while True:
                await trio.sleep(0.1)
                if self.ready:
                    await self.hand_out(tuple(self.ready))

    async def hand_out(self, segments):
        for segment in await self.context.fetched(segments):
            if segment in self.ready:
                self.ready[segment].set()

    async def submit(self, segment):
        await trio.lowlevel.checkpoint()
        if not self.is_up:
            return Unsent("NO_LINK")
        fetched = self.ready[segment] = trio.Event()
        try:
            with trio.move_on_after(1.5):
                await fetched.wait()
        finally:
            del self.ready[segment]
        return await super().submit(segment) if fetched.is_set() else Unsent("NOT_FETCHED")


class SoundSuite(DriverConformance):
    """By the mock clock: what never happens takes no time."""

    secrets: ClassVar = (PASSWORD,)
    driver: ClassVar[type] = Sound
    claims: ClassVar[dict[str, Any]] = {}

    @pytest.fixture(autouse=True, scope="class")
    @staticmethod
    def _what_was_before() -> None:
        """All that is left behind is collected, hundreds of times. What these processes had before
        (libraries, thousands of reports) need not be gone through again each time."""
        gc.freeze()

    def new_clock(self):
        return MockClock(autojump_threshold=0)

    @asynccontextmanager
    async def open_driver(self) -> AsyncIterator[Any]:
        self.carrier = Carrier()
        driver = self.driver(self.carrier)
        if self.claims:
            driver.capabilities = replace(driver.capabilities, **self.claims)
        yield driver

    async def carrier_got(self):
        return self.carrier.got

    async def send_to_us(self, sender, text):
        await self.carrier.texts[0].send((sender, text))

    async def mute_carrier(self):
        self.carrier.mute = True

    async def cut_link(self):
        self.carrier.cut.set()
