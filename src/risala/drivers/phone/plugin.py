"""Android phones as a plugin like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.phone.settings import PhoneSettings
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.hookspecs import hookimpl


def build(carrier: str, settings: PhoneSettings) -> Driver:
    """Build a phone's driver. It is imported here, so that a service without phones does not spend
    time and memory on it."""
    from risala.drivers.phone.driver import PhoneDriver

    return PhoneDriver(carrier, settings)


FACTORY = DriverFactory(
    name="phone",
    settings=PhoneSettings,
    build=build,
    summary="an Android phone with the SMSGate app, which calls this service",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
