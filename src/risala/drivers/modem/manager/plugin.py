"""Modems that ModemManager holds, as a plugin like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.hookspecs import hookimpl


def build(carrier: str, settings: ModemManagerSettings) -> Driver:
    """Build a driver of ModemManager. It is imported here, so that a service without one does not
    spend time and memory on it, nor need ``jeepney``."""
    from risala.drivers.modem.manager.driver import ModemManagerDriver

    return ModemManagerDriver(carrier, settings)


FACTORY = DriverFactory(
    name="modemmanager",
    settings=ModemManagerSettings,
    build=build,
    summary="a modem that ModemManager holds, asked over D-Bus (needs risala[modemmanager])",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
