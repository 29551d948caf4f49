"""SMPP as a plugin like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.smpp.settings import SmppSettings
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.hookspecs import hookimpl


def build(carrier: str, settings: SmppSettings) -> Driver:
    """Build an SMPP driver. It is imported here, so that a service without SMPP carriers does not
    spend time and memory on it."""
    from risala.drivers.smpp.driver import SmppDriver

    return SmppDriver(carrier, settings)


FACTORY = DriverFactory(
    name="smpp",
    settings=SmppSettings,
    build=build,
    summary="SMPP 3.4 over TCP or TLS: transceiver or pairs, several links, outbind",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
