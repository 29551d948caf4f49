"""What Risala finds: the driver, under its name."""

from __future__ import annotations

from collections.abc import Callable

from risala.plugins.contract import DriverFactory
from risala.plugins.hookspecs import hookimpl

from risala_acme.driver import AcmeDriver
from risala_acme.settings import AcmeSettings

risala_contract = "1.1"
"""The contract that this plugin is made for."""

FACTORY = DriverFactory(
    name="acme",
    settings=AcmeSettings,
    build=AcmeDriver,
    summary="Acme SMS over HTTP, with receipts by callback",
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
