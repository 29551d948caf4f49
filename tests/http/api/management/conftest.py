"""The endpoints for secret keys over HTTP, with the real engine behind them."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trio

from risala.config.model import CarrierSection, HttpSection, Settings, StorageSection
from risala.config.outward import WebhooksSection
from risala.drivers.testmode import FACTORY
from risala.engine.journal.store import audit_log
from risala.engine.model.clock import TrioClock
from risala.engine.model.ids import IdSource
from risala.engine.model.records.upkeep.trail import AuditLine
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import Seams
from risala.http.api.app import create_api
from risala.plugins.testing.fake_driver import FakeDriver

TO = "+22236123456"


@dataclass
class Bureau:
    """An organization with keys, another one, and the API in front of their engine."""

    client: Any
    gateway: Any
    driver: FakeDriver
    clock: TrioClock
    organization_id: str = ""
    other_id: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    key_ids: dict[str, str] = field(default_factory=dict)

    async def post(self, path: str, body: Any = None, key: str = "sk_live"):
        headers = {"x-api-key": self.keys.get(key, key), "content-type": "application/json"}
        data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        return await self.client.post(path, headers=headers, data=data)

    async def ask(
        self, path: str, body: Any = None, key: str = "sk_live", status: int = 200
    ) -> Any:
        """The answer, whose status must be this one."""
        response = await self.post(path, body, key)
        payload = await response.get_json()
        assert response.status_code == status, payload
        return payload

    async def refused(self, path: str, body: Any, status: int = 400, key: str = "sk_live") -> Any:
        """Where the faults are, and their codes; or the answer's data."""
        data = (await self.ask(path, body, key, status))["data"]
        issues = data.get("issues", ())
        return [(each["path"], each["code"]) for each in issues] or data

    async def send(self, key: str = "sk_live", to: str = TO, **fields: Any) -> str:
        payload = await self.ask("/api/sms", {"to": to, "body": "Hello", **fields}, key)
        return payload["messageId"]

    async def perform(self, name: str, /, **arguments: Any) -> dict:
        return await self.gateway.perform(name, arguments)

    async def pages(self, path: str, body: dict, key: str = "sk_live") -> list[list[dict]]:
        """The items of all pages, from the newest on."""
        found, cursor = [], {}
        while True:
            page = await self.ask(path, body | cursor, key)
            found.append(page["items"])
            if page["next"] is None:
                return found
            cursor = {"before": page["next"]}

    def trail(self) -> list[AuditLine]:
        return audit_log.lines(self.gateway.services.repositories._store.reader, 500)

    async def make_organization(self, prefix: str = "") -> str:
        made = await self.perform("org.create", name="Some")
        await self.perform("topup", organization_id=made["id"], amount="100")
        for kind in ("secret", "publishable"):
            for mode in ("live", "test"):
                key = await self.perform(
                    "key.create", organization_id=made["id"], type=kind, mode=mode
                )
                self.keys[f"{prefix}{kind[0]}k_{mode}"] = key["value"]
                self.key_ids[f"{prefix}{kind[0]}k_{mode}"] = key["key"]["id"]
        return made["id"]


@pytest.fixture
async def bureau(tmp_path: Path) -> AsyncIterator[Bureau]:
    clock = TrioClock()
    settings = Settings(
        storage=StorageSection(data_dir=tmp_path),
        http=HttpSection(body_timeout_s=300),
        webhooks=WebhooksSection(allow_insecure=True),
    )
    carriers = (
        CarrierSection(name="fake", driver="fake"),
        CarrierSection(name="test", driver="test", prefixes=()),
    )
    drivers = {"fake": FakeDriver(), "test": FACTORY.build("test", None)}
    seams = Seams(clock, IdSource(clock), inline_journal=True)
    async with open_engine(settings, carriers, drivers, seams) as engine:
        client = create_api(engine.gateway, settings, clock).test_client()
        made = Bureau(client, engine.gateway, drivers["fake"], clock)
        made.organization_id = await made.make_organization()
        made.other_id = await made.make_organization("other_")
        yield made
        await trio.lowlevel.checkpoint()
