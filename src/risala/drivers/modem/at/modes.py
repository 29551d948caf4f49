"""Commands that change what a modem is: its radio, its network, its ports, what it keeps. Pure.

Such a change outlives Risala, and may take a modem off its network or off its USB port for good.
So the link refuses each of them, unless the operator has asked for it: by the setting ``init``, or
by ``risala carriers ask NAME network MODE``.
"""

from __future__ import annotations

import re
from typing import Final

_HARMLESS: Final = {
    "+COPS": re.compile(r"3(?:,[0-2])?"),
    # The radio of a modem in flight mode is turned on, and one that hangs is restarted.
    "+CFUN": re.compile(r"1(?:,[01])?"),
    # Quectel's way to ask: the name of a setting alone.
    "+QCFG": re.compile(r'"[^",]*"'),
}
"""Values that change no mode: the form of the operator's name, full functionality, a question."""

MODE_COMMANDS: Final = frozenset(
    (
        # 3GPP TS 27.007: network and technology, functionality, the way of texts, locks.
        *("+COPS", "+CFUN", "+WS46", "+CGSMS", "+CASIMS", "+CEMODE", "+CSRA", "+CPSB"),
        *("+CGATT", "+CPOL", "+CPLS", "+CLCK", "+CPWD"),
        # 3GPP TS 27.007 and V.250: speed, stored profiles, the maker's settings.
        *("+IPR", "+ICF", "&F", "&W", "&Y"),
        # SIMCom
        *("+CNMP", "+CMNB", "+CBAND", "+CBANDCFG", "+CNBP", "+CNAOP", "+CNSDP", "+CNCFG"),
        *("+CUSBPIDSWITCH", "+CUSBSELNV", "+CPSMS", "+CVOLTE", "+VOLTESETTING"),
        # Quectel
        *("+QCFG", "+QNWPREFCFG", "+QMBNCFG", "+QNVW", "+QNVFW", "+QPRTPARA", "+QUSBCFG"),
        *("+QSIMDET", "+QSCLK", "+EGMR"),
        # Huawei
        *("^SYSCFG", "^SYSCFGEX", "^SETPORT", "^U2DIAG", "^SETMODE", "^NVWREX", "^NVWR"),
        *("^FDTM", "^TMODE", "^GODLOAD", "^RESET", "^CARDLOCK", "^SYSCONFIG"),
        # ZTE
        *("+ZSNT", "+ZCDRUN", "+ZOPRT", "+ZBANDI", "+ZDISLOG", "+ZSET"),
        # Sierra, Telit, and others
        *("!SELRAT", "!BAND", "!USBCOMP", "!UDUSBCOMP", "!USBPID", "!IMPREF", "!ENTERCND"),
        *("!RESET", "!PCOFFEN", "#USBCFG", "#PORTCFG", "#FWSWITCH", "#BND", "#REBOOT"),
        *("+USBCFG", "+URAT", "+UBANDMASK", "+UUSBCONF", "+UMNOPROF", "^SXRAT", "^SCFG"),
        *("+XACT", "+GTUSBMODE", "+GTACT", "+GTRAT", "*MRD_IMEI"),
    )
)
"""Names of commands that change a mode. A question (``?``, ``=?``) by that name changes nothing."""

_ACTS: Final = frozenset(("&F", "&W", "&Y", "^RESET", "^GODLOAD", "!RESET", "#REBOOT"))
"""Commands that change a mode without a value."""
_quoted: Final = re.compile(r'"[^"]*"')


class UnaskedModeError(Exception):
    """A command would change the modem's mode, and the operator has not asked for it: a bug of
    ours; nothing was sent."""


def mode_changed_by(line: str) -> str | None:
    """The command of a line (``AT+CNMP=2``, ``AT+CMGF=0;+COPS=0``) that changes the modem's mode;
    None if none does."""
    text = line.strip().upper()
    text = text.removeprefix("AT")
    # A text in quotes may hold any character, also one that ends a command.
    bare = _quoted.sub(lambda quoted: "'" * len(quoted[0]), text)
    at = 0
    for piece in bare.split(";"):
        name = _mode_of(text[at : at + len(piece)].strip())
        if name is not None:
            return name
        at += len(piece) + 1
    return None


def _mode_of(part: str) -> str | None:
    if part[:1] not in "+^!#*$%&":
        # Basic commands run into each other: E0V1&F, E0+CNMP=2.
        extended = re.search(r"[+^!#*$%&].*", part, re.DOTALL)
        return _mode_of(extended[0]) if extended else None
    if part[:2] in _ACTS:
        return part[:2]
    if part[:1] == "&":
        return _mode_of(part[2:].lstrip("0123456789")) if part[2:] else None
    name, is_set, value = part.partition("=")
    name = name.strip()
    if name in _ACTS:
        return name
    if name not in MODE_COMMANDS or not is_set or value.strip() == "?":
        return None
    harmless = _HARMLESS.get(name)
    return None if harmless is not None and harmless.fullmatch(value.strip()) else name
