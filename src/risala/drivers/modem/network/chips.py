"""Families of modems, and the commands by which each chooses 2G, 3G and 4G. A table, pure.

From the makers' manuals of AT commands. None of these commands is ever sent but by the operator's
word: ``risala carriers ask NAME network MODE``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.ready.identity import Identity

AUTO: Final = "auto"
MODES: Final = (AUTO, "2g", "3g", "4g")
"""The words for a network mode: any technology, or one alone."""


@dataclass(frozen=True, slots=True)
class ModemFamily:
    """A family of modems that take the same commands."""

    name: str
    """As its maker writes it."""
    signs: str
    """A pattern of what its modems say of themselves, in small letters."""
    modes: Mapping[str, str]
    """A command for each of :data:`MODES` that it has."""
    question: str = ""
    """Asks for the mode that is chosen now."""

    @property
    def without_lte(self) -> tuple[str, str] | None:
        """The mode that keeps it off LTE, and its command; None if LTE is all that it has."""
        word = next((word for word in ("3g", "2g") if word in self.modes), None)
        return (word, self.modes[word]) if word is not None else None


def _chip(name: str, signs: str, question: str = "", **modes: str) -> ModemFamily:
    commands = {word.removeprefix("_"): command for word, command in modes.items()}
    return ModemFamily(name, signs, MappingProxyType(commands), question)


CHIPS: Final = (
    # A chip without a choice comes first: its maker's others have one.
    _chip("SIM800", r"sim(?:com_)?\s?[89]00|sim868|sim808"),
    _chip(
        "SIM7000",
        r"sim70[0-9]{2}|a76[0-9]{2}|sim767",
        "AT+CNMP?",
        auto="AT+CNMP=2",
        _2g="AT+CNMP=13",
        _4g="AT+CNMP=38",
    ),
    _chip(
        "SIM7600",
        r"sim7[56][0-9]{2}|sim79[0-9]{2}",
        "AT+CNMP?",
        auto="AT+CNMP=2",
        _2g="AT+CNMP=13",
        _3g="AT+CNMP=14",
        _4g="AT+CNMP=38",
    ),
    _chip(
        "Quectel BG",
        r"\bbg[0-9]{2}",
        'AT+QCFG="nwscanmode"',
        auto='AT+QCFG="nwscanmode",0,1',
        _2g='AT+QCFG="nwscanmode",1,1',
        _4g='AT+QCFG="nwscanmode",3,1',
    ),
    _chip(
        "Quectel",
        r"quectel",
        'AT+QCFG="nwscanmode"',
        auto='AT+QCFG="nwscanmode",0,1',
        _2g='AT+QCFG="nwscanmode",1,1',
        _3g='AT+QCFG="nwscanmode",2,1',
        _4g='AT+QCFG="nwscanmode",3,1',
    ),
    _chip(
        "Huawei",
        r"huawei",
        "AT^SYSCFGEX?",
        auto='AT^SYSCFGEX="00",3FFFFFFF,1,2,7FFFFFFFFFFFFFFF,,',
        _2g='AT^SYSCFGEX="01",3FFFFFFF,1,2,7FFFFFFFFFFFFFFF,,',
        _3g='AT^SYSCFGEX="02",3FFFFFFF,1,2,7FFFFFFFFFFFFFFF,,',
        _4g='AT^SYSCFGEX="03",3FFFFFFF,1,2,7FFFFFFFFFFFFFFF,,',
    ),
    _chip(
        "ZTE",
        r"\bzte\b",
        "AT+ZSNT?",
        auto="AT+ZSNT=0,0,0",
        _2g="AT+ZSNT=1,0,0",
        _3g="AT+ZSNT=2,0,0",
        _4g="AT+ZSNT=6,0,0",
    ),
    _chip(
        "Sierra Wireless",
        r"sierra",
        "AT!SELRAT?",
        auto="AT!SELRAT=00",
        _2g="AT!SELRAT=02",
        _3g="AT!SELRAT=01",
        _4g="AT!SELRAT=06",
    ),
    _chip(
        "Telit",
        r"telit",
        "AT+WS46?",
        auto="AT+WS46=25",
        _2g="AT+WS46=12",
        _3g="AT+WS46=22",
        _4g="AT+WS46=28",
    ),
)
UNKNOWN: Final = ModemFamily("", "", MappingProxyType({}))
"""A modem of another family: its manual has the command."""


def chip_of(identity: Identity) -> ModemFamily:
    """The family of a modem, by what it says of itself."""
    words = " ".join((identity.manufacturer, identity.model, identity.revision, *identity.lines))
    text = words.lower()
    return next((chip for chip in CHIPS if re.search(chip.signs, text)), UNKNOWN)
