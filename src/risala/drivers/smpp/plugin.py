"""SMPP as a plugin like any other."""

from __future__ import annotations

from collections.abc import Callable

from risala.drivers.smpp.driver import SmppDriver
from risala.drivers.smpp.settings import SmppSettings
from risala.plugins.contract import DriverFactory
from risala.plugins.hookspecs import hookimpl

FACTORY = DriverFactory(
    name="smpp",
    settings=SmppSettings,
    build=SmppDriver,
    summary="SMPP 3.4 over TCP or TLS: transceiver or pairs, several links, outbind",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
