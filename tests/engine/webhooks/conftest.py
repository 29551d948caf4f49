"""An engine whose events go to endpoints that a test plays, or to real servers on this machine."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import trio

import webhook_receiver
from risala.config.model import CarrierSection, Settings, StorageSection, WebhooksSection
from risala.engine.journal.webhooks import outbox
from risala.engine.model.clock import TrioClock
from risala.engine.model.commands import Principal, SendMessage
from risala.engine.model.events import EventType, MessageEvent
from risala.engine.model.ids import IdSource, message_id
from risala.engine.model.records.keys import KeyType
from risala.engine.model.states import Mode
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.engine.rules.webhooks.types import WebhookCall
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import Engine, open_engine
from risala.engine.wiring.foundation import Seams
from risala.plugins.testing.fake_driver import FakeDriver

OK = ReceiverAnswer(200, None, "ok")
DOWN = ReceiverFault("NOT_CONNECTED", "The connection failed.")
URL = "https://example.com/hook"


@dataclass
class FakeOutbound:
    """Answers what ``plan`` says of a URL; keeps each call with its time."""

    plan: dict[str, list[ReceiverAnswer | ReceiverFault] | ReceiverAnswer | ReceiverFault] = field(
        default_factory=dict
    )
    takes_s: dict[str, float] = field(default_factory=dict)
    calls: list[tuple[float, WebhookCall]] = field(default_factory=list)
    under_way: Counter[str] = field(default_factory=Counter)
    peak: Counter[str] = field(default_factory=Counter)
    arrived: trio.Event = field(default_factory=trio.Event)

    async def post(self, call: WebhookCall) -> ReceiverAnswer | ReceiverFault:
        self.calls.append((trio.current_time(), call))
        self.arrived.set()
        self.arrived = trio.Event()
        self.under_way[call.url] += 1
        self.peak[call.url] = max(self.peak[call.url], self.under_way[call.url])
        self.peak["all"] = max(self.peak["all"], sum(self.under_way.values()))
        try:
            await trio.sleep(self.takes_s.get(call.url, 0))
        finally:
            self.under_way[call.url] -= 1
        planned = self.plan.get(call.url, OK)
        if isinstance(planned, list):
            return planned.pop(0) if planned else OK
        return planned

    def ids(self, url: str | None = None) -> list[str]:
        """The events that arrived, as often as they did."""
        return [
            call.headers["webhook-id"] for _, call in self.calls if url is None or call.url == url
        ]

    async def wait_calls(self, count: int) -> None:
        while len(self.calls) < count:
            await self.arrived.wait()


@dataclass
class House:
    engine: Engine
    outbound: FakeOutbound
    principal: Principal
    clock: TrioClock

    @property
    def gateway(self):
        return self.engine.gateway

    @property
    def organization_id(self) -> str:
        return self.principal.organization_id

    async def perform(self, operation: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.gateway.perform(operation, arguments)

    async def endpoint(self, url: str = URL, **wish: Any) -> tuple[str, str]:
        """A new endpoint's id and secret."""
        wish.setdefault("organization_id", self.organization_id)
        made = await self.perform("webhook.create", url=url, **wish)
        return made["endpoint"]["id"], made["secret"]

    async def send(self, body: str = "hello", to: str = "+22236123456", **fields: Any) -> str:
        command = SendMessage(to=to, body=body, **fields)
        return json.loads(await self.gateway.send_message(self.principal, command))["messageId"]

    async def happen(self, count: int = 1, kind: str = "sms.sent", mode: str = "live") -> list[str]:
        """Write events as a unit of the engine would; their ids."""
        recorder = self.gateway.services.recorder
        whose = (self.organization_id, mode, message_id(1, 1))  # of no message that is here
        what = ("+22236123456", "RISALA", "sent", None, None, None, {}, 50, "MRU")
        event = MessageEvent(EventType(kind), self.clock.now_ms(), *whose, *what)
        return await recorder.journal.commit(
            lambda conn: [outbox.write(conn, event) for _ in range(count)]
        )

    async def log(self, endpoint_id: str, event_id: str) -> tuple[dict, list[dict]]:
        shown = await self.perform("webhook.delivery", endpoint_id=endpoint_id, event_id=event_id)
        return shown["delivery"], shown["attempts"]

    async def deliveries(self, endpoint_id: str, **more: Any) -> list[dict]:
        shown = await self.perform("webhook.deliveries", endpoint_id=endpoint_id, **more)
        return shown["deliveries"]

    async def endpoint_shown(self, endpoint_id: str) -> dict:
        return (await self.perform("webhook.show", endpoint_id=endpoint_id))["endpoint"]


OpenHouse = Callable[..., AbstractAsyncContextManager[House]]


@pytest.fixture
def start_ms() -> int:
    return 1_767_225_600_000


@pytest.fixture
def open_house(tmp_path: Path, start_ms: int) -> OpenHouse:
    """Opens (and opens again) the engine on one data directory, with one organization."""
    clock = TrioClock(start_ms)
    known: list[Principal] = []

    @asynccontextmanager
    async def open_one(
        outbound: Any = None,
        *,
        mailer: Any = None,
        inline: bool = True,
        driver: FakeDriver | None = None,
        webhooks: WebhooksSection | None = None,
        data_dir: Path | None = None,
        carrier: dict[str, Any] | None = None,
        **sections: Any,
    ) -> AsyncIterator[House]:
        outbound = outbound or FakeOutbound()
        section = CarrierSection.model_validate(
            {"name": "fake", "driver": "fake", **(carrier or {})}
        )
        settings = Settings(
            storage=StorageSection(data_dir=data_dir or tmp_path),
            webhooks=webhooks or WebhooksSection(),
            **sections,
        )
        seams = Seams(clock, IdSource(clock), inline_journal=inline)
        async with open_engine(
            settings,
            (section,),
            {"fake": driver or FakeDriver()},
            seams,
            Connections(outbound, mailer),
        ) as engine:
            if not known:
                made = await engine.gateway.perform("org.create", {"name": "Test"})
                await engine.gateway.perform(
                    "topup", {"organization_id": made["id"], "amount": "1000"}
                )
                known.append(Principal(made["id"], "key", KeyType.SECRET, Mode.LIVE))
            yield House(engine, outbound, known[0], clock)

    return open_one


@pytest.fixture
def quick(autojump_clock: trio.testing.MockClock) -> trio.testing.MockClock:
    """Hours and days pass at once."""
    return autojump_clock


@pytest.fixture
def web() -> ModuleType:
    """Real servers: see ``tests/support/webhook_receiver.py``."""
    return webhook_receiver
