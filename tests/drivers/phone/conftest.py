"""A phone, its driver and what the driver told, all in one loop and on the mock clock."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import trio
from pydantic import SecretStr

from phone_calls import API_URL, DirectNetwork
from risala.drivers.phone.driver import PhoneDriver
from risala.drivers.phone.settings import PhoneSettings
from risala.lab.phone.events import TextSent
from risala.lab.phone.phone import PhoneConfig
from risala.lab.phone.simulator import PhoneSimulator
from risala.plugins.contract import HealthState
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext

WHOLE_S = 2 * 86_400
"""On the mock clock: more than any of these tests tells of."""
TOKEN = "private0token0of0the0phone"


@dataclass
class Line:
    """A running driver, and a phone that may call it."""

    driver: PhoneDriver
    network: DirectNetwork
    phone: PhoneSimulator
    context: RecordingContext
    nursery: trio.Nursery
    scope: trio.CancelScope = field(default_factory=trio.CancelScope)

    async def start(self) -> None:
        """Run the driver, again after :meth:`stop`."""
        self.scope = trio.CancelScope()
        await self.nursery.start(self._drive)

    async def _drive(self, *, task_status=trio.TASK_STATUS_IGNORED) -> None:
        with self.scope:
            await self.driver.run(self.context, task_status=task_status)

    def stop(self) -> None:
        """End the driver."""
        self.scope.cancel()

    @property
    def sent(self) -> list[str]:
        """The texts that left the phone."""
        return [each.text for each in self.phone.events if isinstance(each, TextSent)]

    @property
    def attention(self) -> str:
        return str(self.context.healths[-1].details.get("attention", ""))

    async def up(self) -> None:
        await self.context.wait_health(HealthState.UP)
        await self.phone.wait_ready()
        await trio.sleep(1)  # on the mock clock: until all that begins with a connection is done

    async def submit(self, text="Hello", **changes):
        return await self.driver.submit(segment(text, **changes))

    def begin(self, text="Hello", **changes) -> Submitting:
        submitting = Submitting(segment(text, **changes))
        self.nursery.start_soon(submitting.run, self.driver)
        return submitting

    async def another_phone(self, **changes) -> PhoneSimulator:
        """Another phone that has the private token."""
        other = new_phone(self.network, **changes)
        self.nursery.start_soon(other.run)
        return other


class Submitting:
    """A submit in a task of its own."""

    def __init__(self, each) -> None:
        self.segment = each
        self.outcome = None
        self.scope = trio.CancelScope()
        self.is_over = trio.Event()

    async def run(self, driver) -> None:
        with self.scope:
            self.outcome = await driver.submit(self.segment)
        self.is_over.set()

    async def end(self):
        await self.is_over.wait()
        return self.outcome


def new_phone(network, **changes) -> PhoneSimulator:
    values = {"sent_after_s": 1.0, "delivered_after_s": 2.0, **changes}
    return PhoneSimulator(PhoneConfig(API_URL, TOKEN, **values), network=network)


def makes(settings: PhoneSettings) -> bool:
    """Whether the driver makes the private token: then it is made already, as the phone has it."""
    return settings.token is None


@pytest.fixture
def new_line():
    @asynccontextmanager
    async def line(*, notes=None, secrets=None, phone=None, config=None, **settings):
        made = PhoneSettings(**{"token": SecretStr(TOKEN), **settings})
        driver = PhoneDriver("phone", made)
        network = DirectNetwork(driver)
        context = RecordingContext("phone")
        context.notes.update(notes or {})
        context.secrets.update({"private_token": TOKEN, **(secrets or {})} if makes(made) else {})
        with trio.fail_after(WHOLE_S):
            async with trio.open_nursery() as nursery:
                if phone is None:
                    phone = new_phone(network, **(config or {}))
                else:
                    phone.network = type(phone.network)(network)
                line = Line(driver, network, phone, context, nursery)
                await line.start()
                nursery.start_soon(phone.run)
                yield line
                nursery.cancel_scope.cancel()

    return line


@pytest.fixture
async def line(new_line):
    async with new_line() as made:
        await made.up()
        yield made
