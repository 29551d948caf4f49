"""The real engine, the real driver and the simulator, over real TCP on this machine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
import trio

from fresh_files import fresh_files  # noqa: F401 -- a fixture of all below
from patience import HANG_S
from risala.config.model import CarrierSection, DeliverySection, Settings, StorageSection
from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.settings import SmppSettings
from risala.engine.delivery.worker.tile import statistics_of
from risala.engine.model.clock import SystemClock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.ids import IdSource
from risala.engine.model.records.keys import KeyType
from risala.engine.model.sentences import sentence
from risala.engine.model.states import Mode
from risala.engine.wiring.engine import Engine, open_engine
from risala.engine.wiring.foundation import Seams
from risala.lab.smsc.scenario import Scenario
from risala.lab.smsc.scenario_behaviour import scenario_simulator
from risala.lab.smsc.simulator import ReceivedMessage, SimulatorEvent, SmscSimulator

FINAL = ("delivered", "undelivered", "failed", "canceled")
TWICE = "it is sent again and may arrive twice"

QUICK_DRIVER = {
    "host": "127.0.0.1",
    "system_id": "risala",
    "password": "secret",
    "reconnect_first_s": 0.02,
    "reconnect_max_s": 0.1,
    # Longer than any test waits: no answer is late because the machine is slow.
    "response_timeout_s": 600,
    "enquire_link_s": 600,
    "bind_refused_wait_s": 0.1,
    # Off, because most of these days are about what happens where nothing tells.
    "user_message_reference": False,
}
QUICK_CARRIER = {
    "name": "smsc",
    "driver": "smpp",
    "rate_per_s": 1000,
    "on_uncertain_message": {"action": "resend", "after_s": 0.3},
}
QUICK_DELIVERY = {
    "retry": {"first_wait_s": 0.05, "wait_max_s": 0.2, "attempts_max": 50},
    "breaker_failures": 100,
    # No message is so unlucky; the bound has tests of its own.
    "uncertain_submits_max": 100,
    "breaker_open_s": 0.1,
}


class Exchange:
    """A running engine at a running simulator, and what came of both."""

    engine: Engine
    driver: SmppDriver
    principal: Principal

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.events: list[SimulatorEvent] = []
        self.messages: list[ReceivedMessage] = []
        self.simulator: SmscSimulator = scenario_simulator(
            Scenario.model_validate(scenario),
            accounts={"risala": "secret"},
            on_event=self.events.append,
            on_message=self.messages.append,
        )

    @property
    def gateway(self):
        return self.engine.gateway

    def of(self, kind: type) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    def lane(self):
        """The carrier's statistics."""
        (lane,) = self.engine._board.lanes.values()
        return statistics_of(lane)

    async def send(
        self, *bodies: str, to: str = "+22236123456", validity_s: int | None = None
    ) -> list[str]:
        ids = []
        for body in bodies:
            command = SendMessage(to=to, body=body, validity_s=validity_s)
            response = await self.gateway.send_message(self.principal, command)
            ids.append(json.loads(response)["messageId"])
        return ids

    async def send_at_once(self, *bodies: str) -> list[str]:
        """As fast as the lane can, however slowly they were taken in."""
        await self.gateway.perform("carriers.pause", {"carrier": "smsc"})
        ids = await self.send(*bodies)
        await self.gateway.perform("carriers.resume", {"carrier": "smsc"})
        return ids

    def status(self, message_id: str) -> str:
        return self.gateway.show_message(message_id)[0].status

    def timeline(self, message_id: str) -> list[str]:
        return [sentence(entry) for entry in self.gateway.show_message(message_id)[1]]

    async def settle(self, ids: list[str], *statuses: str) -> Counter[str]:
        """Until every message is in one of these states (any final one by default)."""
        wanted = statuses or FINAL
        with self.gateway.watch() as life:
            while any(self.status(one) not in wanted for one in ids):
                with trio.move_on_after(0.05):
                    await anext(life)
        return Counter(self.status(one) for one in ids)

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        while not condition():  # noqa: ASYNC110 - no one event tells of engine and simulator
            await trio.sleep(0.01)

    async def balance(self) -> str:
        shown = await self.gateway.perform(
            "org.show", {"organization_id": self.principal.organization_id}
        )
        return shown["balance"]

    def inbound_texts(self) -> list[str]:
        rows = self.gateway.services.repositories._store.reader.execute(
            "SELECT body FROM inbound ORDER BY rowid"
        )
        return [row[0] for row in rows.fetchall()]

    def assert_honest(self, ids: list[str]) -> None:
        """No message lost, doubled without its timeline saying so, or left in ``processing``."""
        read = Counter(message.text for message in self.messages)
        for one in ids:
            row, entries = self.gateway.show_message(one)
            texts = " ".join(sentence(entry) for entry in entries)
            story = f"{row.body}: {row.status}, read {read[row.body]} times: {texts}"
            assert row.status not in ("pending", "processing"), story
            if row.status in ("sent", "delivered"):
                assert read[row.body] >= 1, story
            if row.status == "failed":
                assert read[row.body] == 0 or "it may have been delivered" in texts, story
            if read[row.body] > 1:
                assert TWICE in texts, story


OpenExchange = Callable[..., AbstractAsyncContextManager[Exchange]]


@pytest.fixture
def open_exchange(tmp_path) -> OpenExchange:
    @asynccontextmanager
    async def open_one(
        scenario: dict[str, Any] | None = None,
        *,
        driver: dict[str, Any] | None = None,
        carrier: dict[str, Any] | None = None,
        delivery: dict[str, Any] | None = None,
        port: int | None = None,
        patience_s: float = HANG_S,
    ) -> AsyncIterator[Exchange]:
        """``port``: of an SMSC that runs already, in place of the simulator."""
        it = Exchange({"receipts": {"wait": {"mean_s": 0.01}}, **(scenario or {})})
        clock = SystemClock()
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path),
            delivery=DeliverySection.model_validate({**QUICK_DELIVERY, **(delivery or {})}),
        )
        with trio.fail_after(patience_s):
            async with trio.open_nursery() as nursery:
                at = await nursery.start(it.simulator.run) if port is None else port
                table = {**QUICK_DRIVER, "port": at, **(driver or {})}
                section = CarrierSection.model_validate({**QUICK_CARRIER, **(carrier or {})})
                it.driver = SmppDriver("smsc", SmppSettings.model_validate(table))
                seams = Seams(clock, IdSource(clock))
                async with open_engine(settings, (section,), {"smsc": it.driver}, seams) as engine:
                    it.engine = engine
                    it.principal = await _organization(engine)
                    yield it
                nursery.cancel_scope.cancel()

    return open_one


async def _organization(engine: Engine) -> Principal:
    made = await engine.gateway.perform("org.create", {"name": "Test"})
    await engine.gateway.perform("topup", {"organization_id": made["id"], "amount": "1000"})
    return Principal(made["id"], "key", KeyType.SECRET, Mode.LIVE)
