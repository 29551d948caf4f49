"""The operator's commands to a modem: ``risala carriers ask NAME …``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from risala.drivers.modem.talk.dialogue import UssdError
from risala.drivers.modem.talk.link import LinkError
from risala.plugins.contract import CommandRefusedError, DriverCommand

if TYPE_CHECKING:
    from risala.drivers.modem.session import ModemSession

Answer = Mapping[str, str | int | float | None]

USSD: Final = DriverCommand(
    "ussd", "Dial a code of the SIM's network, and choose from its menus.", "CODE [CHOICE]…"
)
BALANCE: Final = DriverCommand("balance", "Ask now for the SIM's balance.")
RETRY_PIN: Final = DriverCommand(
    "retry-pin", "Use this after correcting the PIN in the settings: it types the PIN once more."
)

_is_code: Final = re.compile(r"[*#0-9+]{1,60}").fullmatch
_NO_CODE: Final = (
    "The settings do not say how to ask for the balance: in [carriers.modem.ussd_balance] set "
    'code = "*124#" (what one dials on this network) and, where the first number of the answer '
    "is not the amount, pattern; then restart. `ussd CODE` dials a code without any setting."
)
_NOT_CONNECTED: Final = "The modem is not ready; `risala carriers` says why."


async def dial(session: ModemSession | None, arguments: Sequence[str]) -> Answer:
    """``ussd CODE [CHOICE]…``: dial a code, make choices in its menus; the network's last text.

    Raises:
        CommandRefusedError: the code is invalid, the modem is not ready, or the network did not
            answer.
    """
    if not arguments or not all(map(_is_code, arguments)):
        raise CommandRefusedError("Codes and choices have only digits, * and #: ussd '*124#'")
    session = _ready(session)
    try:
        text = await session.dialogues.dial(arguments[0], arguments[1:])
    except (UssdError, LinkError) as fault:
        raise CommandRefusedError(_sentence(fault)) from fault
    return {"text": text}


async def balance(
    session: ModemSession | None, arguments: Sequence[str], *, has_code: bool
) -> Answer:
    """``balance``: ask the network for the SIM's balance now.

    Args:
        has_code: the settings have a code to ask with.

    Raises:
        CommandRefusedError: they have none, the modem is not ready, or the network did not answer.
    """
    _none(arguments)
    if not has_code:
        raise CommandRefusedError(_NO_CODE)
    session = _ready(session)
    try:
        await session.balance.ask(session.dialogues)
    except (UssdError, LinkError) as fault:
        raise CommandRefusedError(_sentence(fault)) from fault
    session.publish()
    reading = session.balance
    if reading.amount is None:
        return {
            "text": reading.text,
            "amount": None,
            "is": "not found in the text by the pattern",
        }
    return {
        "text": reading.text,
        "amount": reading.amount,
        "is": "low" if reading.is_low else "fine",
    }


def _none(arguments: Sequence[str]) -> None:
    if arguments:
        raise CommandRefusedError("This command takes no arguments.")


def _ready(session: ModemSession | None) -> ModemSession:
    if session is None:
        raise CommandRefusedError(_NOT_CONNECTED)
    return session


def _sentence(fault: Exception) -> str:
    text = str(fault)
    return text[:1].upper() + text[1:].rstrip(".") + "."
