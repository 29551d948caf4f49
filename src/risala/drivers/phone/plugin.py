"""The phone driver as a plugin: it is imported when a carrier has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from risala.drivers.phone.settings import PhoneSettings
from risala.plugins.contract import Driver, DriverFactory
from risala.plugins.hookspecs import hookimpl

if TYPE_CHECKING:
    from risala.drivers.phone.link import PhoneAccount


def build(carrier: str, settings: PhoneSettings, account: PhoneAccount) -> Driver:
    """Build a phone's driver. It is imported here, so that a service without phones does not spend
    time and memory on it."""
    from risala.drivers.phone.driver import PhoneDriver

    return PhoneDriver(carrier, settings, account)


def build_account(_settings: PhoneSettings) -> PhoneAccount:
    """Build what the lines of phones share."""
    from risala.drivers.phone.link import PhoneAccount

    return PhoneAccount()


def key_of(_settings: PhoneSettings) -> str:
    """All phones are one account: a line finds the phone that it shares by its carrier's name."""
    return ""


FACTORY = DriverFactory(
    name="phone",
    settings=PhoneSettings,
    build=build,
    summary="an Android phone with the SMSGate app, which calls this service",
    shared=build_account,
    account_key=key_of,
)


@hookimpl
def risala_register_drivers(register: Callable[[DriverFactory], None]) -> None:
    register(FACTORY)
