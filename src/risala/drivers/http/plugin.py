"""Carriers over HTTP, by settings, as a plugin like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.http.settings import HttpSettings
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.hookspecs import hookimpl


def build(carrier: str, settings: HttpSettings) -> Driver:
    """Build a driver. It is imported here, so that a service without such carriers does not spend
    time and memory on it."""
    from risala.drivers.http.driver import HttpDriver

    return HttpDriver(carrier, settings)


FACTORY = DriverFactory(
    name="http",
    settings=HttpSettings,
    build=build,
    summary="an aggregator's HTTP API, by a preset or by settings",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
