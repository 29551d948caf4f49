"""The configuration of a simulated modem: its SIM, its network, its delays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from risala.lab.modem.world.profiles import PROFILES, Profile
from risala.sms.numbering.plan import DEFAULT, EXAMPLE

PIN_TRIES: Final = 3
PUK_TRIES: Final = 10


class ReportStatus(StrEnum):
    """The content of the status report of a send (TP-ST, 23.040 §9.2.3.15)."""

    DELIVERED = "delivered"
    FAILED = "failed"
    EXPIRED = "expired"
    TRYING = "trying"
    """Still trying, without a further report."""
    TRYING_FIRST = "trying_first"
    """Still trying, then delivered."""
    NONE = "none"
    """No report comes."""


class ReferenceForm(StrEnum):
    """The message reference in ``+CMGS:``; the report has the true one."""

    TRUE = "true"
    ZERO = "zero"
    MINUS = "minus"
    """-1, as with some modems."""
    WRONG = "wrong"
    """A number other than the true one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModemConfig:
    profile: Profile = field(default_factory=lambda: PROFILES["plain"])
    """One of ``PROFILES``."""
    imei: str = "861234567890124"
    """What the modem says of itself."""
    imsi: str = "609101234567890"
    """What the SIM says of itself, as its next two."""
    iccid: str = f"89{DEFAULT.home.calling_code}10123456789012"
    """The SIM card's number."""
    number: str = f"{EXAMPLE[:-6]}000001"
    """The SIM's own number."""
    smsc_number: str = f"{EXAMPLE[:-6]}990000"
    """The service centre's number on the SIM; empty if it has none."""
    operator: str = "Testnet"
    """The name of the network (+COPS), as its next two."""
    operator_short: str = "TESTNET"
    """The operator's short name."""
    operator_code: str = "60910"
    """The operator's code."""
    pin: str | None = None
    """The SIM asks for it after every start."""
    puk: str = "12345678"
    """What unblocks the SIM after three wrong PINs."""
    has_sim: bool = True
    """False: there is no SIM in it."""
    signal: int = 20
    """0 to 31, or 99: unknown (27.007 §8.5)."""
    registration: int = 1
    """``<stat>`` of +CREG (27.007 §7.2)."""
    answer_after_s: float = 0.0
    """Seconds from a message's body to the answer ``+CMGS:``."""
    scan_s: float = 1.0
    """Seconds that +COPS=? takes."""
    report_after_s: float = 0.5
    """Seconds from a send to its status report."""
    report_status: ReportStatus = ReportStatus.DELIVERED
    """What status reports say: ``delivered``, ``failed``, ``expired``, ``trying`` (without a
    further report), ``trying_first`` (then delivered), ``none``."""
    reference_form: ReferenceForm = ReferenceForm.TRUE
    """The reference in ``+CMGS:``: the ``true`` one, ``zero``, ``minus`` (-1), a ``wrong`` one;
    reports have the true one."""
    first_reference: int = 0
    """The next send has this TP-MR; after 255 comes 0."""
    full_blocks_sending: bool = False
    """+CMGS is refused with 322 while a storage is full, as some modems do."""
    places: Mapping[str, int] = field(default_factory=dict)
    """Sizes of storages, instead of those of the profile: ``{"SM": 5}``."""
    reports_apart: bool = False
    """Status reports have a storage of their own, ``SR``, where other programs do not look; else
    they are among the messages."""
    ussd: Mapping[str, str] = field(default_factory=lambda: {"*124#": "Solde: 150,00"})
    """The network's answers, by code."""
    ussd_after_s: float = 0.2
    """Seconds from such a code to its answer."""
    shows_callers: bool = True
    """The network tells who calls (CLIP); else each number is withheld."""
    acknowledge_s: float = 15.0
    """Seconds within which +CNMA must come; else +CMT and +CDS stop (27.005 §3.4.4)."""
    is_booted: bool = True
    """The modem has been on for long; False: it boots, and prints its first lines."""
