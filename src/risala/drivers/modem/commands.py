"""The operator's commands to a modem: ``risala carriers ask NAME …``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from risala.drivers.modem.network.lte import ANY_WAY, ANY_WAY_COMMAND
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

NETWORK: Final = DriverCommand(
    "network",
    "Choose 2G, 3G or 4G for this modem, or all of them (auto); without a word, tell its choice.",
    "[auto|2g|3g|4g|sms-any-way]",
)

_is_code: Final = re.compile(r"[*#0-9+]{1,60}").fullmatch
_NO_CODE: Final = (
    "The settings do not say how to ask for the balance: in [carriers.modem.ussd_balance] set "
    'code = "*124#" (what one dials on this network) and, where the first number of the answer '
    "is not the amount, pattern; then restart. `ussd CODE` dials a code without any setting."
)
_RAW_MAX: Final = 120
"""Characters of a modem's own words that are shown."""
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


async def network(session: ModemSession | None, arguments: Sequence[str]) -> Answer:
    """``network [MODE]``: choose the modem's technologies; without ``MODE``, ask for its choice.

    The only command of the driver that changes a modem's mode: the operator asks for it.

    Raises:
        CommandRefusedError: this modem has no such mode, is not ready, or does not take it.
    """
    session = _ready(session)
    chip = session.chip
    known = {**chip.modes, ANY_WAY: ANY_WAY_COMMAND}
    if len(arguments) > 1 or not set(arguments) <= set(known):
        raise CommandRefusedError(
            f"The modes of this modem are: {', '.join(known)}. Its maker's manual may have others:"
            " they go into `init` of [carriers.modem]."
        )
    command = known[arguments[0]] if arguments else chip.question or "AT+CGSMS?"
    try:
        answer = await session.by_operator(command)
    except LinkError as fault:
        raise CommandRefusedError(_sentence(fault)) from fault
    if answer is None or not answer.result.ok:
        raw = "no answer" if answer is None else answer.result.raw[:_RAW_MAX]
        raise CommandRefusedError(f"The modem does not take {command}: {raw}.")
    answered = " ".join(row.text for row in answer.rows)[:_RAW_MAX]
    return {"command": command, "text": answered or "OK"}


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
