"""The driver of HiLink sticks as a plugin: it is imported when a carrier has it."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.hilink.settings import HilinkSettings
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.hookspecs import hookimpl


def build(carrier: str, settings: HilinkSettings) -> Driver:
    """Build a stick's driver. It is imported here, so that a service without sticks does not spend
    time and memory on it."""
    from risala.drivers.hilink.driver import HilinkDriver

    return HilinkDriver(carrier, settings)


FACTORY = DriverFactory(
    name="hilink",
    settings=HilinkSettings,
    build=build,
    summary="a HiLink USB stick, such as Huawei's E3372h: it has an HTTP API and no AT port",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
