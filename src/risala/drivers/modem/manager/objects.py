"""The modems that ModemManager shows, and which of them is ours. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from risala.dataclass import dataclass
from risala.drivers.modem.manager.words import MANAGER, ModemLock, ModemState

MODEM: Final = f"{MANAGER}.Modem"
MESSAGING: Final = f"{MODEM}.Messaging"
GSM: Final = f"{MODEM}.Modem3gpp"
_WEAKEST_DBM: Final = -113
_SPAN_DBM: Final = 62
MODEMS_NAMED_MAX: Final = 4
"""The most modems that a sentence names."""


@dataclass(frozen=True, slots=True)
class SeenModem:
    """A modem as ModemManager shows it; what it does not know is empty."""

    path: str
    name: str
    """Manufacturer and model."""
    imei: str
    device: str
    """As ``mmcli`` shows it: a path in sysfs, or a name that udev gave it."""
    ports: tuple[str, ...]
    state: int
    """:class:`ModemState`."""
    failed: int
    """``MMModemStateFailedReason``; 0: it works."""
    lock: int
    """:class:`ModemLock`."""
    tries: int | None
    """How many PINs may still be typed, by the SIM's own counter; None: unknown."""
    signal: int | None
    """Per cent."""
    number: str
    registration: int
    operator: str
    sim: str
    """The path of its SIM; ``/``: none."""
    has_messaging: bool

    @property
    def is_registered(self) -> bool:
        """Whether a network serves it."""
        return self.state >= ModemState.REGISTERED

    def is_called(self, name: str) -> bool:
        """Whether a setting names it: by IMEI, device or port."""
        port = os.path.basename(os.path.realpath(name)) if "/" in name else name
        named = {self.imei, self.device, os.path.basename(self.device), *self.ports}
        return name in named or port in {os.path.basename(each) for each in self.ports}


def modems_of(objects: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[SeenModem]:
    """What ``GetManagedObjects`` answered, by path."""
    return [_seen(path, each) for path, each in sorted(objects.items()) if MODEM in each]


def _seen(path: str, interfaces: Mapping[str, Mapping[str, Any]]) -> SeenModem:
    modem = {name: value[1] for name, value in interfaces[MODEM].items()}
    gsm = {name: value[1] for name, value in interfaces.get(GSM, {}).items()}
    retries = modem.get("UnlockRetries") or {}
    quality = modem.get("SignalQuality")
    numbers = modem.get("OwnNumbers") or ()
    words = (str(modem.get("Manufacturer") or ""), str(modem.get("Model") or ""))
    return SeenModem(
        path=path,
        name=" ".join(filter(None, words))[:80] or "modem",
        imei=str(modem.get("EquipmentIdentifier") or gsm.get("Imei") or ""),
        device=str(modem.get("Device") or ""),
        ports=tuple(str(port[0]) for port in modem.get("Ports") or ()),
        state=int(modem.get("State") or ModemState.UNKNOWN),
        failed=int(modem.get("StateFailedReason") or 0),
        lock=int(modem.get("UnlockRequired") or ModemLock.UNKNOWN),
        tries=retries.get(int(ModemLock.SIM_PIN)),
        signal=int(quality[0]) if quality else None,
        number=next((_number(each) for each in numbers if each), ""),
        registration=int(gsm.get("RegistrationState") or 0),
        operator=str(gsm.get("OperatorName") or "")[:40],
        sim=str(modem.get("Sim") or "/"),
        has_messaging=MESSAGING in interfaces,
    )


def _number(text: str) -> str:
    """A SIM's own number. Where the modem speaks UCS-2, ModemManager hands it on in hex."""
    if re.fullmatch(r"(?:00[23][0-9B])+", text):
        text = bytes.fromhex(text).decode("utf-16-be")
    return f"+{text.lstrip('+')}"


def dbm_of(percent: int | None) -> int | None:
    """A signal in dBm. ModemManager makes per cent of -113 to -51 dBm, and says 0 of a modem that
    has not told it yet."""
    return None if not percent else round(_WEAKEST_DBM + percent * _SPAN_DBM / 100)


def chosen(modems: Iterable[SeenModem], name: str | None) -> SeenModem | str:
    """The modem that the settings mean; else a sentence that says why there is none.

    Args:
        name: what the settings call it; None: the only one.
    """
    there = [*modems]
    fitting = [each for each in there if name is None or each.is_called(name)]
    if len(fitting) == 1:
        return fitting[0]
    if not there:
        return "ModemManager sees no modem. Is it plugged in? `mmcli -L` lists what it sees."
    seen = ", ".join(each.imei or each.device for each in there[:MODEMS_NAMED_MAX])
    if not fitting:
        return f"ModemManager does not see the modem of the settings. It sees: {seen}."
    return f"ModemManager has several modems that fit: set modem to the IMEI of one: {seen}."
