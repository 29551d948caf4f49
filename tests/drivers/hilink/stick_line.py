"""A simulated stick, and a driver for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from risala.drivers.hilink.driver import HilinkDriver
from risala.drivers.hilink.settings import HilinkSettings
from risala.lab.hilink.config import HilinkConfig
from risala.lab.hilink.simulator import HilinkSimulator
from risala.plugins.contract import HealthState
from risala.plugins.testing.context import RecordingContext

PASSWORD = "correct-horse-7"
QUICK = {"poll_s": 0.02, "check_every_s": 0.05, "answer_s": 5, "send_timeout_s": 5}


def quick(**changes: object) -> HilinkConfig:
    """A stick that loses no time."""
    given = {"port": 0, "sent_after_s": 0, "reported_after_s": 0, **changes}
    return HilinkConfig(**given)


@asynccontextmanager
async def stick_and_driver(
    config: HilinkConfig | None = None, **changes: object
) -> AsyncIterator[tuple[HilinkSimulator, HilinkDriver]]:
    """A stick that is there, and a driver for it that is not running."""
    stick = HilinkSimulator(config or quick())
    async with trio.open_nursery() as nursery:
        await nursery.start(stick.run)
        settings = HilinkSettings.model_validate({"url": stick.url, **QUICK, **changes})
        yield stick, HilinkDriver("stick", settings)
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def living(
    driver: HilinkDriver, context: RecordingContext | None = None
) -> AsyncIterator[RecordingContext]:
    """The driver runs."""
    context = context or RecordingContext("stick")
    async with trio.open_nursery() as nursery:
        await nursery.start(driver.run, context)
        yield context
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def running(
    config: HilinkConfig | None = None, **changes: object
) -> AsyncIterator[tuple[HilinkSimulator, HilinkDriver, RecordingContext]]:
    """A stick, and a driver that is up."""
    async with stick_and_driver(config, **changes) as (stick, driver), living(driver) as context:
        await context.wait_health(HealthState.UP)
        yield stick, driver, context
