"""GSM modems as a plugin like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.modem.settings import ModemSettings
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.hookspecs import hookimpl


def build(carrier: str, settings: ModemSettings) -> Driver:
    """Build a modem driver. It is imported here, so that a service without modems does not spend
    time and memory on it."""
    from risala.drivers.modem.driver import ModemDriver

    return ModemDriver(carrier, settings)


FACTORY = DriverFactory(
    name="modem",
    settings=ModemSettings,
    build=build,
    summary="a GSM modem with a SIM, on a serial port or behind TCP",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
