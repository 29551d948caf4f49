"""An organization that uses faces beside the API: the real engine, and the app in front of it."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import trio

from patience import HANG_S
from risala.config.model import CarrierSection, Settings, StorageSection, WebhooksSection
from risala.drivers.testmode import FACTORY
from risala.engine.features.compat.access import CompatAccess
from risala.engine.features.request_log.service import request_log
from risala.engine.model.clock import TrioClock
from risala.engine.model.ids import IdSource
from risala.engine.rules.webhooks.schedule import ReceiverAnswer, ReceiverFault
from risala.engine.rules.webhooks.types import Outbound, WebhookCall
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import Seams
from risala.http.api.app import create_api
from risala.http.faces.mount import add_faces
from risala.plugins.face import GatewayFace
from risala.plugins.testing.fake_driver import FakeDriver

TO = "+22236123456"
CALLED = "https://customer.example/dlr"


@dataclass
class FakeOutbound:
    """Takes calls, and answers as it is told."""

    calls: list[WebhookCall] = field(default_factory=list)
    answers: list[ReceiverAnswer | ReceiverFault] = field(default_factory=list)
    arrived: trio.Event = field(default_factory=trio.Event)

    async def post(self, call: WebhookCall) -> ReceiverAnswer | ReceiverFault:
        await trio.lowlevel.checkpoint()
        self.calls.append(call)
        self.arrived.set()
        self.arrived = trio.Event()
        return self.answers.pop(0) if self.answers else ReceiverAnswer(200, None, "ok")

    async def wait(self, count: int) -> list[WebhookCall]:
        with trio.fail_after(HANG_S):
            while len(self.calls) < count:
                await self.arrived.wait()
        return self.calls


@dataclass
class FaceOffice:
    client: Any
    app: Any
    gateway: Any
    outbound: FakeOutbound
    driver: FakeDriver
    organization_id: str
    settings: Settings
    credentials: dict[str, Any] = field(default_factory=dict)
    """Of the one that a test asks by."""
    password: str = ""
    who: dict[str, str] = field(default_factory=dict)

    async def perform(self, name: str, **arguments: Any) -> dict:
        return await self.gateway.perform(name, arguments)

    async def credential(self, face: str, **more: Any) -> tuple[dict, str]:
        made = await self.perform(
            "credential.create", organization_id=self.organization_id, face=face, **more
        )
        return made["credential"], made["password"]

    async def get(self, path: str, **fields: str | bytes) -> tuple[int, str]:
        query = f"?{urlencode(fields, quote_via=quote)}" if fields else ""
        answer = await self.client.get(f"{path}{query}")
        return answer.status_code, (await answer.get_data()).decode()

    async def form(
        self, path: str, fields: Mapping[str, str], who: tuple[str, str] | None = None, **more: str
    ):
        headers = {"content-type": "application/x-www-form-urlencoded", **more}
        if who is not None:
            word = base64.b64encode(":".join(who).encode()).decode()
            headers["authorization"] = f"Basic {word}"
        return await self.client.post(path, headers=headers, data=urlencode(fields))

    def messages(self) -> list[str]:
        reader = self.gateway.services.repositories._store.reader
        return [row[0] for row in reader.execute("SELECT id FROM message ORDER BY key")]

    async def wait_status(self, message_id: str, status: str) -> None:
        with trio.fail_after(HANG_S), self.gateway.watch() as life:
            while self.gateway.show_message(message_id)[0].status != status:
                await anext(life)

    async def is_clean(self) -> bool:
        return bool((await self.perform("audit"))["clean"])


@asynccontextmanager
async def open_office(
    directory: Path,
    faces: Mapping[str, GatewayFace],
    outbound: Outbound | None = None,
    driver: FakeDriver | None = None,
    carrier: Mapping[str, Any] | None = None,
    **sections: Any,
) -> AsyncIterator[FaceOffice]:
    clock = TrioClock()
    settings = Settings(
        storage=StorageSection(data_dir=directory),
        webhooks=WebhooksSection(allow_insecure=True),
        **sections,
    )
    live = CarrierSection(name="fake", driver="fake", **(carrier or {}))
    tests = CarrierSection(name="test", driver="test", prefixes=())
    driver = driver or FakeDriver()
    drivers = {"fake": driver, "test": FACTORY.build("test", None)}
    seams = Seams(clock, IdSource(clock), inline_journal=True)
    calls = outbound or FakeOutbound()
    outside = Connections(outbound=calls, faces=faces)
    async with open_engine(settings, (live, tests), drivers, seams, outside) as engine:
        gateway = engine.gateway
        found = await gateway.perform("org.list", {})
        if found["organizations"]:
            organization_id = found["organizations"][0]["id"]
        else:
            organization_id = (await gateway.perform("org.create", {"name": "Office"}))["id"]
            if settings.billing.payer == "customers":
                credit = {"organization_id": organization_id, "amount": "100"}
                await gateway.perform("topup", credit)
        app = create_api(gateway, settings, clock, notes=gateway.services.part(request_log))
        access = gateway.services.part(CompatAccess)
        add_faces(app, gateway, access, settings, faces, "http://127.0.0.1:8080", clock)
        yield FaceOffice(app.test_client(), app, gateway, calls, driver, organization_id, settings)
