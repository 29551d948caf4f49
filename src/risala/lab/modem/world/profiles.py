"""The modems that can be simulated: their names, own output, missing features and differences.

The output of real modems was taken from their manuals and from recordings. A profile is a table.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    name: str
    title: str
    manufacturer: str
    model: str
    revision: str
    about: tuple[str, ...]
    """The lines of ATI; ``{imei}`` is replaced by the serial number."""
    boot: tuple[tuple[float, str], ...] = ()
    """Seconds after power on, and the output then; ``{sim}`` is replaced by the word of +CPIN."""
    ready: tuple[tuple[float, str], ...] = ()
    """Seconds after the SIM is ready (at once, or after the PIN), and the output then."""
    boot_s: float = 2.0
    """Seconds from power on to the first answer."""
    register_s: float = 1.0
    """Seconds from there until it is registered on the network."""
    goodbye: str = ""
    """The output when it is switched off."""
    restart_gone_s: float | None = None
    """How long a stick leaves the bus at a restart; a serial modem stays."""
    first_index: int = 1
    """Index of the first place of a storage: 0 or 1."""
    storages: tuple[str, ...] = ("SM", "ME")
    """The storages of +CPMS, the default first. Status reports are kept among the messages."""
    places: dict[str, int] = field(default_factory=lambda: {"SM": 30, "ME": 100})
    empty_place: str = "error"
    """The answer of +CMGR for an empty place: ``error`` (321), ``ok``, or ``zero`` (a row of length
    0)."""
    cnmi: tuple[str, ...] = ("0-2", "0-3", "0,2", "0-2", "0,1")
    """The accepted values of +CNMI: mode, mt, bm, ds, bfr."""
    alphabets: tuple[str, ...] = ("GSM", "IRA", "UCS2", "8859-1", "HEX")
    unknown: str = "ERROR"
    """The final result of a command that it lacks."""
    lacks: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    """Commands of its maker that it has."""
    noise: tuple[str, ...] = ()
    """Lines that come by themselves."""
    noise_every_s: float = 0.0
    """Mean time between two such lines; 0: no such lines."""
    noise_in_answers_percent: float = 0.0
    """How often such a line comes between the lines of an answer."""
    blank_lines: bool = False
    """A further blank line before each line, here and there."""
    ussd_packed: bool = False
    """USSD is sent and received as packed septets in hexadecimal."""
    cops_technology: bool = True
    class_0_direct: bool = False
    """A message of class 0 is not stored: it goes straight to the port (+CMT) for any +CNMI."""
    full_line: str = ""
    """The output when a storage is full; ``{storage}`` is replaced by its name."""
    cmee: int = 0
    """The +CMEE after power on."""


_PLAIN: Final = Profile(
    name="plain",
    title="a modem that does what the standards say",
    manufacturer="Risala",
    model="Simulated modem",
    revision="1.0",
    about=("Risala", "Simulated modem", "Revision: 1.0"),
)

_HUAWEI: Final = Profile(
    name="huawei",
    title="a Huawei E1752: ^ lines at any time, also between the lines of an answer",
    manufacturer="huawei",
    model="E1752",
    revision="11.126.03.00.00",
    about=(
        "Manufacturer: huawei",
        "Model: E1752",
        "Revision: 11.126.03.00.00",
        "IMEI: {imei}",
        "+GCAP: +CGSM,+DS,+ES",
    ),
    boot=((0.2, "^SIMST:1"), (0.8, "^RSSI:{rssi}")),
    ready=((0.4, "^SRVST:2"), (0.6, "^MODE:5,4")),
    boot_s=3.0,
    register_s=2.0,
    restart_gone_s=5.0,
    first_index=0,
    places={"SM": 20, "ME": 100},
    cnmi=("0-2", "0-3", "0,2,3", "0-2", "0,1"),
    alphabets=("IRA", "GSM", "UCS2"),
    unknown="COMMAND NOT SUPPORT",
    lacks=frozenset({"+CCID", "+QCCID", "+CPINR", "+CBC", "+CMMS", "+CSCB", "+SPIC", "+QPINC"}),
    own=frozenset({"^CURC", "^ICCID", "^CPIN", "^SYSINFO", "^HCSQ", "^CARDMODE", "^SYSCFG"}),
    noise=(
        "^RSSI:{rssi}",
        "^DSFLOWRPT:0000000A,00000000,00000000,0000000000000000,0000000000000000,0003E800,0003E800",
        "^BOOT:27710117,0,0,0,75",
        "^MODE:5,4",
        "^CSNR:-93,-7",
    ),
    noise_every_s=5.0,
    noise_in_answers_percent=10.0,
    blank_lines=True,
    ussd_packed=True,
    class_0_direct=True,
    full_line='^SMMEMFULL:"{storage}"',
)

_SIM800: Final = Profile(
    name="sim800",
    title="a SIMCom SIM800L: Call Ready, SMS Ready, quick to lose its power",
    manufacturer="SIMCOM_Ltd",
    model="SIMCOM_SIM800L",
    revision="Revision:1418B05SIM800L24",
    about=("SIM800 R14.18",),
    boot=((0.2, "RDY"), (0.3, "+CFUN: 1"), (0.6, "+CPIN: {sim}")),
    ready=((0.6, "Call Ready"), (0.8, "SMS Ready")),
    goodbye="NORMAL POWER DOWN",
    places={"SM": 15, "ME": 20},
    empty_place="ok",
    cnmi=("0-3", "0-3", "0,2,3", "0-2", "0,1"),
    alphabets=("IRA", "GSM", "UCS2", "HEX", "8859-1"),
    lacks=frozenset({"+CEREG", "+CPINR", "^ICCID", "+QCCID", "+QPINC", "^CPIN"}),
    own=frozenset({"+SPIC", "+CPOWD", "+CSPN", "+CSMINS"}),
    cops_technology=False,
    full_line="*SMSFULL",
)

_QUECTEL: Final = Profile(
    name="quectel",
    title="a Quectel EC25: LTE, +QIND, and the bus left at every restart",
    manufacturer="Quectel",
    model="EC25",
    revision="EC25EFAR06A11M4G",
    about=("Quectel", "EC25", "Revision: EC25EFAR06A11M4G"),
    boot=((0.2, "RDY"), (0.4, "+CFUN: 1"), (0.5, "+CPIN: {sim}"), (0.8, "+QUSIM: 1")),
    ready=((0.3, "+QIND: SMS DONE"), (0.6, "+QIND: PB DONE")),
    boot_s=3.0,
    goodbye="POWERED DOWN",
    restart_gone_s=5.0,
    first_index=0,
    storages=("ME", "SM"),
    places={"ME": 255, "SM": 50},
    empty_place="ok",
    cnmi=("0-2", "0-3", "0,2,3", "0-2", "0,1"),
    alphabets=("GSM", "IRA", "UCS2"),
    lacks=frozenset({"^ICCID", "+SPIC", "^CPIN", "+CMGC"}),
    own=frozenset({"+QCCID", "+QPINC", "+QINDCFG", "+QCFG", "+QNWINFO", "+QURCCFG", "+QPOWD"}),
    noise=('+QIND: "csq",{rssi},99', '+QIND: "act","LTE"'),
    noise_every_s=30.0,
    full_line='+QIND: "smsfull","{storage}"',
    cmee=1,
)

_SICK: Final = replace(
    _PLAIN, name="sick", title="a worn one: loses octets, hangs, restarts, leaves the bus, refuses"
)
"""The profile of a worn modem; its quirks are :data:`risala.lab.modem.quirks.SICK`."""

PROFILES: Final = {each.name: each for each in (_PLAIN, _HUAWEI, _SIM800, _QUECTEL, _SICK)}
