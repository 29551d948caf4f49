"""The console over a running engine, and an operator who is signed in to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import trio

from risala.config.model import CarrierSection, Settings, StorageSection
from risala.drivers.payments.mobile_money import MobileMoney, MobileMoneySettings
from risala.engine.gateway.gateway import Gateway
from risala.engine.model.callers import Caller, CallerKind, Role
from risala.engine.model.people import Browser, Language
from risala.engine.wiring.connections import Connections
from risala.engine.wiring.engine import open_engine
from risala.engine.wiring.foundation import DATABASE, system_seams
from risala.http.operator.app import create_console
from risala.http.web.app import WebApp
from risala.plugins.contract import DriverCommand
from risala.plugins.page import OpenPage
from risala.plugins.testing.fake_driver import FakeDriver
from web_browser import Reader

AT_THE_MACHINE = Caller("root", CallerKind.CLI, Role.OPERATOR)
OPERATOR = "mariem@risala.example"
CUSTOMER = "aicha@baraka.example"


@dataclass
class Post:
    """A running service, seen from its console."""

    gateway: Gateway
    settings: Settings
    console: WebApp
    database: Path
    organization_id: str
    pages: dict[str, OpenPage]
    """Those that plugins bring; a test adds its own."""

    async def do(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        return await self.gateway.perform(name, arguments, AT_THE_MACHINE)

    async def token(self, email: str, *, operator: bool) -> str:
        """Of a session that somebody has by a link."""
        link = await self.do("user.sign_in", email=email, operator=operator)
        entered = await self.gateway.people.sign_in.use_link(
            link["token"], Browser("x", None, "", "", Language.ENGLISH)
        )
        assert entered is not None
        return entered.token


class Talking(FakeDriver):
    """A carrier whose driver can be asked something."""

    commands = (DriverCommand("ussd", "asks the network", "CODE"),)

    async def command(self, name: str, arguments: Sequence[str]) -> Mapping[str, str]:
        return {"text": f"{arguments[0]}: <i>318</i>"}


@pytest.fixture
async def post(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Post]:
    """With further sections of the settings, where a test gives them; ``driver`` is another one."""
    more = dict(getattr(request, "param", {}))
    driver = more.pop("driver", Talking)()
    settings = Settings(storage=StorageSection(data_dir=tmp_path), **more)
    carrier = CarrierSection(name="fake", driver="fake", prefixes=("+222",))
    bankily = MobileMoney("Bankily", MobileMoneySettings(merchant="038 221"))
    pages: dict[str, OpenPage] = {}
    outside = Connections(payments={"bankily": bankily}, pages=pages)
    seams = replace(system_seams(), inline_journal=True, watch_loop=False)
    drivers = {"fake": driver}
    async with open_engine(settings, (carrier,), drivers, seams, outside=outside) as engine:
        gateway = engine.gateway
        console = create_console(gateway, settings, shutdown=trio.Event())
        made = Post(gateway, settings, console, tmp_path / DATABASE, "", pages)
        made.organization_id = (await made.do("org.create", name="Baraka Market"))["id"]
        whose = {"organization_id": made.organization_id}
        await made.do("member.add", email=CUSTOMER, role="owner", **whose)
        await made.do("user.create", email=OPERATOR, operator=True)
        yield made


@pytest.fixture
async def operator(post: Post) -> Reader:
    """A browser that the console is open in."""
    return Reader(post.console, {"risala-operator": await post.token(OPERATOR, operator=True)})


@pytest.fixture
def stranger(post: Post) -> Reader:
    return Reader(post.console)


@pytest.fixture
def browser_on() -> Callable[..., Reader]:
    return Reader
