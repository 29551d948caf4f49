"""The findings about a modem: facts, checks, and the resulting sentence. Pure."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Any, Final

from risala.dataclass import dataclass
from risala.drivers.modem.at.fields import Registration
from risala.drivers.modem.network.lte import NetworkService
from risala.drivers.modem.ready.identity import Identity
from risala.drivers.modem.ready.routing import Routing
from risala.drivers.modem.ready.storage import Usage

_TAIL: Final = 4
"""Digits of an IMSI or ICCID that are shown: enough to distinguish SIMs."""
BARS_MAX: Final = 5
_STRENGTHS: Final = (
    # from this many dBm upwards: how many bars, and the word for it
    (-75, 5, "excellent"),
    (-85, 4, "good"),
    (-95, 3, "fair"),
    (-105, 2, "weak"),
    (-113, 1, "too weak"),
)
"""+CSQ goes from -113 to -51 dBm; below -105 sends begin to fail."""
WEAK_BARS: Final = 2

REGISTRATIONS: Final = {
    Registration.IDLE: "not registered, not searching",
    Registration.HOME: "home network",
    Registration.SEARCHING: "searching",
    Registration.DENIED: "denied",
    Registration.UNKNOWN: "unknown",
    Registration.ROAMING: "roaming",
    Registration.SMS_ONLY_HOME: "home network, SMS only",
    Registration.SMS_ONLY_ROAMING: "roaming, SMS only",
    Registration.EMERGENCY: "emergency calls alone",
    Registration.CSFB_HOME: "home network, calls not by a fallback",
    Registration.CSFB_ROAMING: "roaming, calls not by a fallback",
    Registration.RESTRICTED: "restricted local services alone",
}


class CheckState(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The result of one check."""

    state: CheckState
    text: str
    """The meaning, and what to do."""


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: CheckState
    text: str


def ok(text: str) -> CheckVerdict:
    return CheckVerdict(CheckState.OK, text)


def warn(text: str) -> CheckVerdict:
    return CheckVerdict(CheckState.WARN, text)


def fail(text: str) -> CheckVerdict:
    return CheckVerdict(CheckState.FAIL, text)


@dataclass(frozen=True, slots=True)
class Strength:
    bars: int
    word: str

    @classmethod
    def of(cls, dbm: int | None) -> Strength:
        if dbm is None:
            return cls(0, "unknown")
        strength = next((row for row in _STRENGTHS if dbm >= row[0]), _STRENGTHS[-1])
        return cls(strength[1], strength[2])

    @property
    def drawn(self) -> str:
        """``●●●○○``."""
        return "●" * self.bars + "○" * (BARS_MAX - self.bars)


@dataclass(slots=True)
class Findings:
    """All findings about the modem at one port; empty if a check did not reach it."""

    port: str
    checks: list[Check] = field(default_factory=list)
    identity: Identity = field(default_factory=Identity)
    sim: str = ""
    registration: Registration | None = None
    service: NetworkService = field(default_factory=NetworkService)
    operator: str = ""
    signal_dbm: int | None = None
    smsc: str = ""
    pdu_mode: bool | None = None
    storages: dict[str, Usage] = field(default_factory=dict)
    storage: str = ""
    """The storage in which the driver would keep received messages."""
    routing: Routing | None = None
    quirks: list[str] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    """What the modem answered to the questions of a report, if those were asked."""
    served_by: str = ""
    """The running Risala service that has the port open, as it should: the modem itself was not
    examined then."""

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if check.state is CheckState.FAIL]

    @property
    def warned(self) -> list[Check]:
        return [check for check in self.checks if check.state is CheckState.WARN]

    @property
    def can_send(self) -> bool | None:
        """Whether the modem can send; None if the running service uses it and can answer better."""
        if self.served_by and not self.failed:
            return None
        return bool(self.checks) and not self.failed

    @property
    def verdict(self) -> str:
        """One sentence, with what to do if it cannot send."""
        if self.can_send is None:
            return (
                f"In use by {self.served_by}, as it should be. `risala carriers` shows its state."
            )
        if self.can_send:
            return "This modem can send."
        return f"This modem cannot send. {self.failed[0].text if self.failed else ''}".rstrip()

    def facts(self) -> dict[str, Any]:
        """The findings for programs (JSON). Of IMSI and ICCID only the last digits."""
        identity, routing = self.identity, self.routing
        strength = Strength.of(self.signal_dbm)
        return {
            "manufacturer": identity.manufacturer or None,
            "model": identity.model or None,
            "firmware": identity.revision or None,
            "imei": identity.imei or None,
            "imsi": tail(identity.imsi),
            "iccid": tail(identity.iccid),
            "sim": self.sim or None,
            "registration": _registration(self.registration),
            "operator": self.operator or None,
            "signalDbm": self.signal_dbm,
            "signalBars": strength.bars if self.signal_dbm is not None else None,
            "signal": strength.word,
            "smsc": self.smsc or None,
            "pduMode": self.pdu_mode,
            "storages": {
                name: {"used": usage.used, "total": usage.total}
                for name, usage in self.storages.items()
            },
            "storage": self.storage or None,
            "cnmi": routing.text or None if routing else None,
            "csms": int(routing.acknowledges) if routing else None,
            "statusReports": routing.reports if routing else None,
            "quirks": self.quirks,
        }


def tail(number: str) -> str | None:
    """The last digits of a number, as ``…7890``; None without a number."""
    return f"…{number[-_TAIL:]}" if number else None


def _registration(registration: Registration | None) -> str | None:
    return None if registration is None else registration.name.lower()
