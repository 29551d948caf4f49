"""Which modem a command of ``risala modem`` means, and by which of three ways it is asked: its AT
port, ModemManager, or a HiLink stick's own API."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.reach.options import Options
from risala.cli.reach.refused import CommandRefused

if TYPE_CHECKING:
    from pydantic import BaseModel

AT_PORT: Final = "modem"
MODEM_MANAGER: Final = "modemmanager"
HILINK: Final = "hilink"
WAYS: Final = (AT_PORT, MODEM_MANAGER, HILINK)
"""The names of their drivers."""


def asking(command: Callable[..., None]) -> Callable[..., None]:
    """The options of all commands that ask a modem."""
    for option in reversed(
        (
            click.option(
                "--baud",
                type=click.IntRange(300, 4_000_000),
                default=115200,
                show_default=True,
                help="Has no effect on USB.",
            ),
            click.option(
                "--pin-env", metavar="VAR", help="The environment variable with the SIM's PIN."
            ),
            click.option(
                "--type-pin",
                is_flag=True,
                help="The PIN is surely right: type it even after a wrong one, but never as the "
                "last try, if the modem says how many are left.",
            ),
            click.option(
                "--timeout-s",
                type=click.FloatRange(1, 3600),
                default=120.0,
                show_default=True,
                help="The time limit for all checks together.",
            ),
        )
    ):
        command = option(command)
    return command


def way_of(options: Options, named: str, baud: int, pin_env: str | None) -> tuple[str, BaseModel]:
    """The driver's name and its settings, from the options or from a carrier's table.

    Args:
        named: a device, an address, ``modemmanager`` or a carrier's name.

    Raises:
        CommandRefused: they are wrong; the sentence never holds the PIN.
    """
    from pydantic import ValidationError

    from risala.config.faults import ConfigError
    from risala.config.secrets import resolve_secrets

    way, table = _table(options, named, baud)
    if pin_env is not None:
        table["pin_env"] = pin_env
    try:
        return way, _model(way).model_validate(resolve_secrets(table))
    except ConfigError as error:
        raise CommandRefused(str(error)) from None
    except ValidationError as error:
        # Pydantic's own error is not shown: it holds the values, and one may be the PIN.
        faults = (
            f"{'.'.join(map(str, each['loc']))}: {each['msg'].removeprefix('Value error, ')}"
            for each in error.errors(include_url=False, include_input=False)
        )
        raise CommandRefused("; ".join(faults)) from None


def _model(way: str) -> type[BaseModel]:
    if way == HILINK:
        from risala.drivers.hilink.settings import HilinkSettings

        return HilinkSettings
    if way == MODEM_MANAGER:
        from risala.drivers.modem.manager.settings import ModemManagerSettings

        return ModemManagerSettings
    from risala.drivers.modem.settings import ModemSettings

    return ModemSettings


def _table(options: Options, named: str, baud: int) -> tuple[str, dict[str, Any]]:
    if named.startswith(("http://", "https://")):
        return HILINK, {"url": named}
    word, _, modem = named.partition(":")
    if word == MODEM_MANAGER:
        return MODEM_MANAGER, {"modem": modem} if modem else {}
    if "/" not in named and not os.path.exists(named):
        return _carrier(options, named)
    port = named if "://" in named else os.path.abspath(named)
    return AT_PORT, {"port": port, "baud": baud}


def _carrier(options: Options, name: str) -> tuple[str, dict[str, Any]]:
    """The driver and the driver's table of a carrier."""
    carriers = [each for each in options.settings().carriers if each.driver in WAYS]
    carrier = next((each for each in carriers if each.name == name), None)
    if carrier is not None:
        return carrier.driver, {**carrier.settings}
    names = ", ".join(each.name for each in carriers)
    raise CommandRefused(
        f"{name} is neither a port (/dev/…, socket://…), an address (http://…), modemmanager, nor "
        "a carrier with a modem" + (f"; those are: {names}." if names else " of the settings.")
    )
