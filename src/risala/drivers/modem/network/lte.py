"""SMS on LTE: whether the network takes texts from this modem there, and what to do if not.

LTE carries no text by itself. It takes one of two ways: over SGs, by which the modem is registered
for circuits too (``+CREG`` says 1, 6 or 9; 3GPP TS 23.272 §8.2), or over IMS (``+CIREG``; TS
23.204). A modem that has neither is registered for data, shows a good signal, and each text fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from risala.drivers.modem.at.errors import CME, CMS, NO_REASON, UNKNOWN, ErrorMeaning
from risala.drivers.modem.at.fields import Registration, first, number
from risala.drivers.modem.network.chips import ModemFamily
from risala.drivers.modem.talk.asking import Asker

_NOT_TAKEN: Final = "The modem is on LTE, and the network does not take its text there."
_DATA_ALONE: Final = "The modem has LTE for data alone, and no way for a text."
_PACKETS_ALONE: Final = (
    "The modem sends texts as data alone (+CGSMS: 0), which the network does not take."
)
_KEEP_OFF: Final = "To keep it off LTE: {command}."
_LET_CHOOSE: Final = "To let it take another way: {command}."
_ASK: Final = "Ask the SIM's operator for SMS over SGs or IMS."

_LTE: Final = frozenset((7, 9, 10, 11, 12, 13))
"""``<AcT>`` of +COPS? that is LTE or later (27.007 §7.3)."""
_IMS_SMS: Final = 4
"""The bit of ``<ext_info>`` of +CIREG? for SMS over IMS (27.007 §8.71)."""
_PACKETS: Final = 0
"""``<service>`` of +CGSMS? for packets alone (27.007 §10.1.21)."""
_CMS_CODES: Final = (17, 29, 38, 41, 50, 69, 98, 111, 127, 300, 302, 331, 500, 512)
_CME_CODES: Final = (-1, 0, 3, 30, 100)
_MAY_BE_LTE: Final = frozenset(
    meaning.text
    for meaning in (
        *(CMS[code] for code in _CMS_CODES),
        *(CME[code] for code in _CME_CODES),
        UNKNOWN,
        NO_REASON,
    )
)
"""What modems say of a text that LTE does not take; each of these has other reasons too."""
ANY_WAY: Final = "sms-any-way"
ANY_WAY_COMMAND: Final = "AT+CGSMS=3"
"""Texts by circuits, and as data where there are none (27.007 §10.1.21)."""


@dataclass(slots=True)
class NetworkService:
    """What the network gives this modem, as far as the modem tells."""

    circuit: Registration | None = None
    """What +CREG says; None if it says nothing."""
    packet: Registration | None = None
    """The better word of +CEREG and +CGREG; None if neither was asked, because +CREG was enough."""
    technology: int | None = None
    """``<AcT>`` of +COPS?."""
    way: int | None = None
    """``<service>`` of +CGSMS?: 0 packets, 1 circuits, 2 and 3 one before the other."""
    ims: bool | None = None
    """Whether IMS carries texts; None if the modem does not tell."""

    @property
    def is_lte(self) -> bool:
        return self.technology in _LTE

    @property
    def is_data_alone(self) -> bool:
        """Registered for packets, and surely for neither circuits nor IMS."""
        has_circuit = self.circuit is None or self.circuit.registered
        has_packet = self.packet is not None and self.packet.registered
        return has_packet and not has_circuit and not self.ims


async def ask_ways(asker: Asker, service: NetworkService) -> None:
    """Ask by which ways texts may leave. Questions alone: they change nothing."""
    way = first(await asker.rows("AT+CGSMS?"), "+CGSMS")
    service.way = number(way[0]) if way else None
    service.ims = _has_ims(first(await asker.rows("AT+CIREG?"), "+CIREG"))


def _has_ims(fields: list[str]) -> bool | None:
    """Whether ``<n>,<reg_info>[,<ext_info>]`` says that IMS carries texts."""
    if len(fields) < 2 or number(fields[1]) is None:
        return None
    if number(fields[1]) != 1:
        return False
    try:
        return len(fields) < 3 or bool(int(fields[2], 16) & _IMS_SMS)
    except ValueError:
        return None


def warning(service: NetworkService, chip: ModemFamily, carrier: str) -> str:
    """What the operator should know before a text fails; empty if nothing speaks against one."""
    return f"{_DATA_ALONE} {_advice(service, chip, carrier)}" if service.is_data_alone else ""


def reason(service: NetworkService, chip: ModemFamily, carrier: str, trouble: ErrorMeaning) -> str:
    """Why a text failed, and what to do, if LTE may be to blame; else empty.

    Args:
        trouble: what the modem said.
    """
    if trouble.text not in _MAY_BE_LTE:
        return ""
    if service.is_data_alone:
        return warning(service, chip, carrier)
    if not service.is_lte:
        return ""
    what = _PACKETS_ALONE if service.way == _PACKETS else _NOT_TAKEN
    return f"{what} {_advice(service, chip, carrier)}"


def _advice(service: NetworkService, chip: ModemFamily, carrier: str) -> str:
    if service.way == _PACKETS and not service.is_data_alone:
        return _LET_CHOOSE.format(command=asked(carrier, ANY_WAY, ANY_WAY_COMMAND))
    choice = chip.without_lte
    if choice is None:
        return _ASK
    return f"{_KEEP_OFF.format(command=asked(carrier, *choice))} {_ASK}"


def asked(carrier: str, mode: str, command: str) -> str:
    """What the operator types, and what it sends."""
    return f"risala carriers ask {carrier} network {mode} ({command})"
