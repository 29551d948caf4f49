"""GSM modems as a plugin like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.modem.driver import ModemDriver
from risala.drivers.modem.settings import ModemSettings
from risala.plugins.contract import DriverFactory
from risala.plugins.hookspecs import hookimpl

FACTORY = DriverFactory(
    name="modem",
    settings=ModemSettings,
    build=ModemDriver,
    summary="a GSM modem with a SIM, on a serial port or behind TCP",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
