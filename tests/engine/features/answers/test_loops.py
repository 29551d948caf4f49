"""Two services that answer each other stop, however long their texts are under way.

Each is the other's phone: what one sends comes in at the other, from the number that it was sent
from. So does everything that leaves a service for anybody who answers by a program.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Final

import pytest
import trio

from risala.config.model import RepliesSection, Settings, StorageSection
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.wiring.connections import NO_OUTSIDE
from risala.engine.wiring.engine import Engine, open_engine
from risala.engine.wiring.foundation import Seams
from risala.plugins.contract import Accepted, Inbound, Outcome, Segment
from risala.plugins.testing.fake_driver import FakeDriver

CAP: Final = RepliesSection().per_organization_and_hour
PRICE: Final = Decimal("0.50")
HERE, THERE = "+22236000001", "+22236000002"


class Nobody:
    """Where texts are under way to, and nobody answers."""

    async def inbound(self, text: Inbound) -> None:
        await trio.lowlevel.checkpoint()


@dataclass(slots=True)
class Wire(FakeDriver):
    """A carrier with one number, as a phone: texts come in at another service some time later."""

    number: str = ""
    takes_whole: bool = True
    other: Wire | None = None
    delay_s: float = 0.0
    _ids: count = field(default_factory=count)

    async def submit(self, segment: Segment) -> Outcome:
        self.submitted.append(segment)
        await trio.lowlevel.checkpoint()
        assert self._nursery is not None
        self._nursery.start_soon(self._carry, segment, f"w{next(self._ids)}")
        return Accepted(f"w{len(self.submitted)}")

    async def _carry(self, segment: Segment, name: str) -> None:
        await trio.sleep(self.delay_s)
        assert self.other is not None
        assert self.other.context is not None
        now_ms = TrioClock().now_ms()
        text = Inbound(self.number, segment.recipient, segment.text, now_ms, (name,))
        await self.other.context.inbound(text)


@dataclass
class Answering:
    """A service whose organization answers everything."""

    engine: Engine
    wire: Wire
    principal: Principal

    async def balance(self) -> Decimal:
        whose = {"organization_id": self.principal.organization_id}
        shown = await self.engine.gateway.perform("org.show", whose)
        return Decimal(str(shown["balance"]))


@asynccontextmanager
async def answering(folder: Path, carrier, wire: Wire) -> AsyncIterator[Answering]:
    clock = TrioClock()
    settings = Settings(storage=StorageSection(data_dir=folder))
    seams = Seams(clock, IdSource(clock), inline_journal=True)
    async with open_engine(settings, (carrier(),), {"fake": wire}, seams, NO_OUTSIDE) as engine:
        made = await engine.gateway.perform("org.create", {"name": wire.number})
        whose = {"organization_id": made["id"]}
        await engine.gateway.perform("topup", {"amount": "100", **whose})
        await engine.gateway.perform("inbound.route", whose)
        principal = Principal(made["id"], "key", KeyType.SECRET, Mode.LIVE)
        answer = {"name": "All", "text_en": "We have got it.", "language": "en", **whose}
        await engine.gateway.perform("answer.create", answer)
        yield Answering(engine, wire, principal)


@pytest.fixture
async def pair(tmp_path, carrier, quick):
    """Two services, each the other's phone."""
    here, there = Wire(number=HERE), Wire(number=THERE)
    here.other, there.other = there, here
    async with AsyncExitStack() as stack:
        services = []
        for wire in (here, there):
            folder = tmp_path / wire.number
            folder.mkdir()
            services.append(await stack.enter_async_context(answering(folder, carrier, wire)))
        yield services


@pytest.mark.parametrize("delay_s", [1, 20, 300])
async def test_a_loop_of_two_services_stops(pair, quick, delay_s):
    here, there = pair
    for each in pair:
        each.wire.delay_s = delay_s
    await here.engine.gateway.send_message(here.principal, SendMessage(to=THERE, body="hello"))
    await trio.sleep(3600)
    assert len(there.wire.submitted) == 2
    assert len(here.wire.submitted) == 1 + 2


@pytest.mark.slow
@pytest.mark.long
async def test_texts_of_ten_thousand_numbers_cost_at_most_the_cap(tmp_path, carrier, quick):
    wire = Wire(number=HERE)
    wire.other = Wire(number=THERE)
    async with answering(tmp_path, carrier, wire) as service:
        wire.other.context = Nobody()
        balance = await service.balance()
        for number in range(10_000):
            now_ms = TrioClock().now_ms()
            sender = f"+222361{number:05}"
            text = Inbound(sender, HERE, "hello", now_ms, (f"many{number}",))
            await wire.context.inbound(text)
            await trio.sleep(0.1)
        await trio.sleep(3600)
        assert len(wire.submitted) == CAP
        assert balance - await service.balance() == CAP * PRICE
