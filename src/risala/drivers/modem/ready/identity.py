"""Which modem and which SIM these are (27.007 §5)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from risala.drivers.modem.at.engine import Row
from risala.drivers.modem.at.fields import values
from risala.drivers.modem.talk.asking import Asker

_ICCID_COMMANDS: Final = ("AT+CCID", "AT^ICCID?", "AT+ICCID", "AT+QCCID")
_iccid: Final = re.compile(r"(?:^|[^0-9])(89[0-9]{16,18})[0-9A-Fa-f]?(?:[^0-9]|$)")
_imsi: Final = re.compile(r"(?:^|[^0-9])([0-9]{14,15})(?:[^0-9]|$)")
_imei: Final = re.compile(r"(?:^|[^0-9])([0-9]{14,17})(?:[^0-9]|$)")
_number_text: Final = re.compile(r"\+?[0-9]{3,15}")
_TEXT_MAX: Final = 60


@dataclass(slots=True)
class Identity:
    """The identity of modem and SIM; unknown fields are empty."""

    manufacturer: str = ""
    model: str = ""
    revision: str = ""
    imei: str = ""
    imsi: str = ""
    iccid: str = ""
    number: str = ""
    """The SIM's own number, if it is on the SIM; on most it is not."""
    lines: tuple[str, ...] = field(default=())
    """The lines of ATI."""

    @property
    def name(self) -> str:
        """Manufacturer and model for people: ``huawei E1752``."""
        return " ".join(part for part in (self.manufacturer, self.model) if part) or "modem"

    @property
    def is_huawei(self) -> bool:
        return "huawei" in f"{self.manufacturer} {' '.join(self.lines)}".lower()


async def identify_modem(asker: Asker) -> Identity:
    """Ask for the modem's identity; unknown fields stay empty."""
    lines = tuple(row.text[:_TEXT_MAX] for row in await asker.rows("ATI"))
    return Identity(
        manufacturer=_text(await asker.rows("AT+CGMI")),
        model=_text(await asker.rows("AT+CGMM")),
        revision=_text(await asker.rows("AT+CGMR")),
        imei=_find(_imei, await asker.rows("AT+CGSN")),
        lines=lines[:8],
    )


async def identify_sim(asker: Asker, identity: Identity) -> None:
    """Add IMSI, own number (27.007 §7.1) and ICCID, which only a ready SIM reports."""
    identity.imsi = _find(_imsi, await asker.rows("AT+CIMI"))
    identity.number = _number(await asker.rows("AT+CNUM"))
    await identify_card(asker, identity)


async def identify_card(asker: Asker, identity: Identity) -> None:
    """Add the ICCID, which most modems report even while the SIM still needs its PIN."""
    identity.iccid = ""
    for command in _ICCID_COMMANDS:
        identity.iccid = _find(_iccid, await asker.rows(command))
        if identity.iccid:
            return


def _text(rows: tuple[Row, ...]) -> str:
    for row in rows:
        text = " ".join(values(row.text)).strip()
        if text:
            return text[:_TEXT_MAX]
    return ""


def _number(rows: tuple[Row, ...]) -> str:
    for row in rows:
        # Name, number and type of a line: +CNUM: "Line 1","+33612345678",145
        fields = values(row.text)
        if len(fields) > 1 and _number_text.fullmatch(fields[1]):
            international = fields[2:3] == ["145"] and not fields[1].startswith("+")
            return f"+{fields[1]}" if international else fields[1]
    return ""


def _find(pattern: re.Pattern[str], rows: tuple[Row, ...]) -> str:
    for row in rows:
        match = pattern.search(row.text)
        if match:
            return str(match[1])
    return ""
