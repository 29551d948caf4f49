"""A house whose carriers have numbers that can be texted, and called."""

from __future__ import annotations

from contextlib import asynccontextmanager
from itertools import count

import pytest

from risala.engine.features.reverse.service import ReverseStarting
from risala.engine.model.records.verify.sessions import Method
from risala.plugins.contract import Capabilities, Inbound
from risala.plugins.testing.fake_driver import FakeDriver

TO, OTHER = "+22236123456", "+22246123401"
OUR_NUMBER = "+22241000000"


class Sim(FakeDriver):
    """A SIM of the operator's own, which reports calls."""

    own_sim = True

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            alphanumeric_sender=False,
            receipts=True,
            inbound=True,
            query=False,
            validity=True,
            window_max=1,
            own_sim=self.own_sim,
            calls=self.own_sim,
        )


class Aggregator(Sim):
    """Anybody may write any sender."""

    own_sim = False


class Reverse:
    """What a test asks of such a house."""

    def __init__(self, house):
        self.house = house
        self.starting = house.gateway.services.part(ReverseStarting)
        self._ids = count(1)

    async def start(self, to=TO, method=Method.INBOUND_SMS, principal=None, locale=None):
        return await self.starting.start(principal or self.house.principal, method, to, locale)

    async def text(self, text, number=TO, carrier="sim", carrier_id=None):
        """A phone's text comes in."""
        context = self.house.drivers[carrier].context
        ids = (carrier_id or f"id{next(self._ids)}",)
        await context.inbound(Inbound(number, OUR_NUMBER, text, 1, carrier_ids=ids))

    async def ring(self, number=TO, carrier="sim"):
        """A phone calls."""
        await self.house.drivers[carrier].context.call(number)

    def view(self, started, principal=None):
        return self.house.gateway.get_verification(
            principal or self.house.principal, started.verification_id
        )

    def status(self, started, principal=None) -> str:
        return self.view(started, principal).status.value

    async def events(self, started) -> list[tuple[str, str]]:
        return [
            (each["type"], each["to"])
            for each in await self.house.events()
            if each.get("verificationId") == started.verification_id
        ]

    async def hosted(self, started):
        return await self.starting.hosted(started.page.rpartition("/")[2])

    def rows(self) -> int:
        reader = self.house.gateway.services.repositories._store.reader
        return reader.execute("SELECT count(*) FROM reverse_sessions").fetchone()[0]

    def stored(self, column, started):
        reader = self.house.gateway.services.repositories._store.reader
        return reader.execute(
            f"SELECT {column} FROM reverse_sessions WHERE verification_id = ?",
            (started.verification_id,),
        ).fetchone()[0]


@pytest.fixture
def carriers(carrier):
    """A SIM, an aggregator that nobody vouches for, and one that the settings trust."""
    return (
        carrier("sim", own_number=OUR_NUMBER),
        carrier("wild", own_number="4040", priority=1),
        carrier("vouched", own_number="4041", origin="trusted", priority=2),
    )


@pytest.fixture
def open_reverse(open_house, carriers):
    @asynccontextmanager
    async def open_one(*others, **more):
        drivers = {"sim": Sim(), "wild": Aggregator(), "vouched": Aggregator()}
        chosen = others or carriers
        mine = {each.name: drivers.get(each.name) or Aggregator() for each in chosen}
        async with open_house(*chosen, drivers=mine, **more) as house:
            yield Reverse(house)

    return open_one


@pytest.fixture
async def reverse(open_reverse, quick):
    async with open_reverse(balance="0") as opened:
        yield opened
