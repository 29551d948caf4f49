"""The Verify endpoints over HTTP with the real engine, and a fake phone."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import trio

from risala.config.model import CarrierSection, HttpSection, Settings, StorageSection
from risala.drivers.testmode import FACTORY
from risala.engine.model.clock import TrioClock
from risala.engine.model.ids import IdSource
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import Seams
from risala.http.api.app import create_api
from risala.plugins.testing.fake_driver import FakeDriver

TO = "+22236123456"
PEER = "192.0.2.1"
FAKE = CarrierSection(name="fake", driver="fake", origin="trusted", own_number="+22241000000")
TABLES = ("messages", "verifications", "ledger", "idempotency", "events")


@dataclass
class Desk:
    """An organization with keys of every kind, and the API in front of its engine."""

    client: Any
    gateway: Any
    driver: FakeDriver
    drivers: dict[str, Any]
    organization_id: str = ""
    keys: dict[str, str] = field(default_factory=dict)

    async def post(self, path: str, body: Any, key: str = "sk_live", peer=PEER, **headers: str):
        """``key`` is one of ours by its short name, or any value."""
        given = {"x-api-key": self.keys.get(key, key), "content-type": "application/json"}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        scope = {"client": (peer, 40000)} if peer else None
        return await self.client.post(path, headers=given, data=data, scope_base=scope)

    async def send(self, key: str = "sk_live", to: str = TO, peer=PEER, **fields: Any):
        return await self.post("/api/verify/send", {"to": to, **fields}, key, peer)

    async def sent(self, key: str = "sk_live", to: str = TO, **fields: Any) -> str:
        payload = await (await self.send(key, to, **fields)).get_json()
        assert list(payload) == ["verificationId"]
        return payload["verificationId"]

    async def check(self, verification_id: Any, code: Any, key: str = "sk_live", peer=PEER):
        body = {"verificationId": verification_id, "code": code}
        return await self.post("/api/verify/check", body, key, peer)

    async def status(self, verification_id: str, code: str, key: str = "sk_live") -> str:
        response = await self.check(verification_id, code, key)
        payload = await response.get_json()
        assert (response.status_code, list(payload)) == (200, ["status"])
        return payload["status"]

    async def get(self, verification_id: Any, key: str = "sk_live"):
        return await self.post("/api/verify/get", {"verificationId": verification_id}, key)

    async def shown(self, verification_id: str, key: str = "sk_live") -> dict:
        response = await self.get(verification_id, key)
        assert response.status_code == 200
        return await response.get_json()

    async def code(self, number: int = 1) -> str:
        """The code that the phone got in its so-many-th SMS."""
        await self.driver.wait_submitted(number)
        return re.search(r"\d{4,8}", self.driver.submitted[number - 1].text).group()

    async def perform(self, name: str, /, **arguments: Any) -> dict:
        return await self.gateway.perform(name, arguments)

    async def configure(self, **values: Any) -> dict:
        return await self.perform("verify.config", organization_id=self.organization_id, **values)

    async def make_key(self, kind: str = "publishable", mode: str = "live", **fields: Any) -> dict:
        return await self.perform(
            "key.create", organization_id=self.organization_id, type=kind, mode=mode, **fields
        )

    async def make_organization(self, balance: str = "100") -> str:
        made = await self.perform("org.create", name="Some")
        await self.perform("topup", organization_id=made["id"], amount=balance)
        return made["id"]

    def rows(self) -> tuple[int, ...]:
        reader = self.gateway.services.repositories._store.reader
        return tuple(reader.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in TABLES)


OpenDesk = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def open_desk(tmp_path: Path) -> OpenDesk:
    clock = TrioClock()

    @asynccontextmanager
    async def open_one(
        http: dict | None = None,
        driver: FakeDriver | None = None,
        **sections: Any,
    ) -> AsyncIterator[Desk]:
        settings = Settings(
            storage=StorageSection(data_dir=tmp_path),
            http=HttpSection(**{"body_timeout_s": 300, **(http or {})}),
            **sections,
        )
        carriers = (
            FAKE,
            CarrierSection(name="test", driver="test", prefixes=()),
        )
        drivers = {"fake": driver or FakeDriver(), "test": FACTORY.build("test", None)}
        channels = settings.carriers
        drivers |= {each.name: FakeDriver() for each in channels}
        seams = Seams(clock, IdSource(clock), inline_journal=True)
        async with open_engine(settings, (*carriers, *channels), drivers, seams) as engine:
            client = create_api(engine.gateway, settings, clock).test_client()
            desk = Desk(client, engine.gateway, drivers["fake"], drivers)
            desk.organization_id = await desk.make_organization()
            for kind in ("secret", "publishable"):
                for mode in ("live", "test"):
                    desk.keys[f"{kind[0]}k_{mode}"] = (await desk.make_key(kind, mode))["value"]
            yield desk
            await trio.lowlevel.checkpoint()

    return open_one


@pytest.fixture
async def desk(open_desk: OpenDesk) -> AsyncIterator[Desk]:
    async with open_desk() as desk:
        yield desk


@pytest.fixture
def quick(autojump_clock: trio.testing.MockClock) -> trio.testing.MockClock:
    """Minutes and hours pass at once."""
    return autojump_clock


@pytest.fixture
def refused() -> Callable:
    """The body of an error answer, whose shape is checked."""

    async def read(response, status: int) -> dict:
        payload = await response.get_json()
        assert response.status_code == status, payload
        assert set(payload) == {"code", "status", "message", "data", "docs", "requestId"}
        assert payload["status"] == status
        assert payload["requestId"] == response.headers["x-request-id"]
        return payload

    return read
