"""A house with channels, and an organization that opened them."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager

import pytest
import trio

from risala.config.model import Settings
from risala.engine.features.channels.service import ChannelSending
from risala.engine.journal.audit.books import audit
from risala.engine.model.commands import SendCode
from risala.engine.model.records.verify.figures import FIGURES
from risala.plugins.testing.fake_driver import FakeDriver

HOUR_S = 3600
"""Of the mock clock: longer than any session."""
SINCE = "2025-01-01T00:00:00Z"
COUNTED = ("asked", "sent", "delivered", "entered", "cost")
CHANNELS = {
    "chat": {"channel": "telegram", "price": "0.20"},
    "call": {"channel": "voice", "price": "2.00"},
    "email": {"channel": "email", "price": "0.10"},
}


class Channel(FakeDriver):
    """Brings codes; what never comes ends the test. A house at rest has always something to do, so
    that the mock clock alone would run on for ever."""

    async def wait_submitted(self, count: int) -> None:
        with trio.fail_after(HOUR_S):
            await super().wait_submitted(count)


class Codes:
    """What a test asks of a house with channels."""

    def __init__(self, house):
        self.house = house
        self.drivers = house.drivers

    async def send(self, to="+22236123456", principal=None, **beside) -> str:
        command = SendCode(to, beside=beside)
        return await self.house.gateway.send_code(principal or self.house.principal, command)

    async def check(self, verification_id: str, code: str) -> bool:
        return await self.house.gateway.check_code(self.house.principal, verification_id, code)

    async def resend(self, verification_id: str, channel=None, principal=None) -> None:
        sending = self.house.gateway.services.part(ChannelSending)
        await sending.resend(principal or self.house.principal, verification_id, channel)

    def code_in(self, channel: str, index: int = -1) -> str:
        """The code that somebody got by a channel."""
        found = re.search(r"\d{4,8}", self.drivers[channel].submitted[index].text)
        assert found
        return found.group()

    def told(self, verification_id: str):
        """The session's state, and its deliveries by channel and status."""
        view = self.house.gateway.get_verification(self.house.principal, verification_id)
        deliveries = view.details.get("deliveries", ())
        return view.status, [(each["channel"], each["status"]) for each in deliveries]

    async def events(self) -> list[str]:
        told = [event["type"] for event in await self.house.events()]
        return [each for each in told if each != "balance.low"]

    async def counted(self) -> dict[str, tuple[int, int, int, int, str]]:
        """Codes by channel: asked for, sent, delivered, entered; and what they cost."""
        organization_id = self.house.principal.organization_id
        arguments = {"organization_id": organization_id, "since": SINCE, "by": "channel"}
        figures = await self.house.gateway.perform(FIGURES.name, arguments)
        return {each["of"]: tuple(each[name] for name in COUNTED) for each in figures["items"]}

    def books(self) -> tuple[str, ...]:
        """What does not agree in them."""
        return audit(self.house.gateway.services.repositories._store.reader).faults

    async def use(self, **changes) -> None:
        """Open channels."""
        every = ["sms", *CHANNELS]
        usual = {"channels": ["chat", "sms"], "secret": every, "publishable": every}
        organization_id = self.house.principal.organization_id
        arguments = {"organization_id": organization_id, **usual, "addresses": True, **changes}
        await self.house.gateway.perform("verify.channels", arguments)


@pytest.fixture
def open_channels(open_house, carrier):
    @asynccontextmanager
    async def open_one(drivers=None, use=None, **sections):
        settings = Settings(channels=CHANNELS)
        drivers = drivers or {name: Channel() for name in ("sms", *CHANNELS)}
        carriers = (carrier("sms"), *settings.carriers)
        async with open_house(
            *carriers, drivers=drivers, channels=settings.channels, **sections
        ) as house:
            codes = Codes(house)
            await codes.use(**(use or {}))
            yield codes

    return open_one
