"""A whole engine over a real SQLite file, with fake carriers and a clock that jumps."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from risala.config.model import CarrierSection, DeliverySection, Settings, StorageSection
from risala.engine.clock import TrioClock
from risala.engine.commands import KeyType, Mode, Principal, SendMessage
from risala.engine.engine import Engine, Seams, open_engine
from risala.engine.ids import IdSource
from risala.plugins.testing.fake_driver import FakeDriver


@dataclass
class House:
    """A running engine and what a test needs of it."""

    engine: Engine
    drivers: dict[str, FakeDriver]
    principal: Principal

    @property
    def gateway(self):
        return self.engine.gateway

    @property
    def driver(self) -> FakeDriver:
        return next(iter(self.drivers.values()))

    async def organization(self, balance: str = "1000") -> Principal:
        organization = await self.gateway.perform("org.create", {"name": "Test"})
        await self.gateway.perform(
            "topup", {"organization_id": organization["id"], "amount": balance}
        )
        return Principal(organization["id"], "key", KeyType.SECRET, Mode.LIVE)

    async def send(
        self, body: str = "hello", to: str = "+22236123456", principal=None, **fields: Any
    ) -> str:
        command = SendMessage(to=to, body=body, **fields)
        response = await self.gateway.send_message(principal or self.principal, command)
        return json.loads(response)["messageId"]

    def status(self, message_id: str) -> str:
        return self.gateway.show_message(message_id)[0].status

    def timeline(self, message_id: str) -> list[tuple[str, str | None]]:
        return [(entry.status, entry.raw) for entry in self.gateway.show_message(message_id)[1]]

    async def wait_status(self, message_id: str, *statuses: str) -> str:
        """Until the message is in one of these states."""
        with self.gateway.watch() as life:
            while (status := self.status(message_id)) not in statuses:
                assert status not in ("delivered", "undelivered", "failed", "canceled")
                await anext(life)
        return self.status(message_id)

    async def balance(self, principal=None) -> str:
        organization_id = (principal or self.principal).organization_id
        shown = await self.gateway.perform("org.show", {"organization_id": organization_id})
        return shown["balance"]

    async def events(self) -> list[dict]:
        rows = self.gateway.parts.reader.execute("SELECT body FROM events ORDER BY seq").fetchall()
        return [json.loads(row[0]) for row in rows]


OpenHouse = Callable[..., AbstractAsyncContextManager[House]]


def carrier(name: str = "fake", **fields: Any) -> CarrierSection:
    return CarrierSection.model_validate({"name": name, "driver": "fake", **fields})


@pytest.fixture(name="carrier")
def carrier_fixture() -> Callable[..., CarrierSection]:
    return carrier


@pytest.fixture
def open_house(tmp_path: Path) -> OpenHouse:
    """Opens (and opens again) the engine on one data directory."""
    clock = TrioClock()

    @asynccontextmanager
    async def open_one(
        *carriers: CarrierSection,
        drivers: dict[str, FakeDriver] | None = None,
        delivery: DeliverySection | None = None,
        balance: str = "1000",
        inline: bool = True,
        **sections: Any,
    ) -> AsyncIterator[House]:
        carriers = carriers or (carrier(),)
        drivers = drivers or {each.name: FakeDriver() for each in carriers}
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path),
            delivery=delivery or DeliverySection(),
            **sections,
        )
        seams = Seams(clock, IdSource(clock), inline_journal=inline)
        async with open_engine(settings, carriers, drivers, seams) as engine:
            house = House(engine, drivers, None)
            house.principal = await house.organization(balance)
            yield house

    return open_one


@pytest.fixture
def quick(autojump_clock: trio.testing.MockClock) -> trio.testing.MockClock:
    """Minutes and hours pass at once."""
    return autojump_clock
