"""A modem of ModemManager examined, for ``risala modem``: what keeps it from sending.

Nothing is sent, no PIN is typed, no text is read. Of what ModemManager says only the properties
named here are kept: none of them is a number of the SIM or the modem, a text, or a place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

import trio

from risala.dataclass import dataclass
from risala.drivers.modem.doctor.findings import (
    Check,
    CheckState,
    CheckVerdict,
    Strength,
    fail,
    ok,
    warn,
)
from risala.drivers.modem.manager.bus import (
    BusCallError,
    BusGoneError,
    BusTimeoutError,
    ModemBus,
    open_bus,
)
from risala.drivers.modem.manager.driver import OpenBus
from risala.drivers.modem.manager.life import NO_MANAGER, NO_RIGHT, NO_TEXTS, SILENT
from risala.drivers.modem.manager.objects import (
    GSM,
    MESSAGING,
    MODEM,
    SeenModem,
    chosen,
    dbm_of,
    modems_of,
)
from risala.drivers.modem.manager.settings import ModemManagerSettings
from risala.drivers.modem.manager.texts import SMS
from risala.drivers.modem.manager.unlock import USABLE
from risala.drivers.modem.manager.words import (
    DENIED,
    MANAGER,
    OBJECTS,
    PROPERTIES,
    ROOT,
    SIM_MISSING,
    ModemLock,
    ModemState,
    SmsState,
    is_absent,
    is_forbidden,
)

TEXTS_MAX: Final = 100
"""Texts of which a report has the state."""
VALUE_CHARACTERS_MAX: Final = 60
KEPT: Final[Mapping[str, tuple[str, ...]]] = {
    MODEM: (
        *("Manufacturer", "Model", "Revision", "HardwareRevision", "Plugin", "Drivers", "State"),
        *("StateFailedReason", "UnlockRequired", "UnlockRetries", "AccessTechnologies"),
        *("CurrentCapabilities", "SupportedCapabilities", "CurrentModes", "SupportedModes"),
        *("SignalQuality", "PowerState"),
    ),
    GSM: (
        *("RegistrationState", "OperatorCode", "OperatorName", "SubscriptionState"),
        *("EnabledFacilityLocks", "PacketServiceState"),
    ),
    MESSAGING: ("SupportedStorages", "DefaultStorage"),
}
"""The properties that a report has, by interface."""
_STATES: Final = {int(each): each.name.lower() for each in SmsState}


@dataclass(slots=True)
class ManagedFindings:
    """What is known of a modem; empty where no check came."""

    checks: list[Check] = field(default_factory=list)
    version: str = ""
    """ModemManager's."""
    modem: SeenModem | None = None
    answers: list[dict[str, Any]] = field(default_factory=list)
    """What ModemManager said to the questions of a report, if those were asked."""

    def add(self, name: str, verdict: CheckVerdict) -> None:
        self.checks.append(Check(name, verdict.state, verdict.text))

    @property
    def failed(self) -> Check | None:
        return next((each for each in self.checks if each.state is CheckState.FAIL), None)


async def examine_managed(
    settings: ModemManagerSettings,
    timeout_s: float,
    *,
    for_report: bool = False,
    open_bus: OpenBus = open_bus,
) -> ManagedFindings:
    """Examine the modem of the settings, within a time.

    Args:
        for_report: ask also what a report has.
        open_bus: connects to D-Bus; raises BusGoneError.
    """
    findings = ManagedFindings()
    silent = True
    with trio.move_on_after(timeout_s):
        try:
            async with open_bus(settings.bus) as bus:
                findings.add("D-Bus", ok("It is there."))
                await _examine(bus, settings, findings, for_report=for_report)
        except* BusGoneError:
            findings.add("D-Bus", fail("There is no D-Bus, by which ModemManager is asked."))
        silent = False
    if silent:
        findings.add("ModemManager", fail(SILENT))
    return findings


async def _examine(
    bus: ModemBus, settings: ModemManagerSettings, findings: ManagedFindings, *, for_report: bool
) -> None:
    try:
        (version,) = await bus.call(ROOT, f"{PROPERTIES}.Get", "ss", (MANAGER, "Version"))
        findings.version = str(version[1])[:VALUE_CHARACTERS_MAX]
        findings.add("ModemManager", ok(f"Version {findings.version} runs."))
        (objects,) = await bus.call(ROOT, f"{OBJECTS}.GetManagedObjects")
        modem = chosen(modems_of(objects), settings.modem)
        if isinstance(modem, str):
            findings.add("modem", fail(modem))
            return
        findings.modem = modem
        findings.add("modem", ok(f"{modem.name}."))
        _judge(findings, modem, has_pin=settings.pin is not None)
        if for_report:
            findings.answers += _properties(objects[modem.path])
            findings.answers.append(await _texts(bus, modem))
    except BusTimeoutError:
        findings.add("ModemManager", fail(SILENT))
    except BusCallError as error:
        findings.add("ModemManager", fail(_refused(error.name)))


def _refused(name: str) -> str:
    if is_absent(name):
        return NO_MANAGER
    return NO_RIGHT if is_forbidden(name) else f"ModemManager refuses: {name}."


def _judge(findings: ManagedFindings, modem: SeenModem, *, has_pin: bool) -> None:
    findings.add("SIM", _sim(modem, has_pin=has_pin))
    if findings.failed is not None:
        return
    findings.add("texts", ok("It takes texts.") if modem.has_messaging else fail(NO_TEXTS))
    findings.add("network", _network(modem))
    if (dbm := dbm_of(modem.signal)) is not None:
        findings.add("signal", ok(f"{dbm} dBm, {Strength.of(dbm).word}."))


def _sim(modem: SeenModem, *, has_pin: bool) -> CheckVerdict:
    if modem.state == ModemState.FAILED:
        if modem.failed == SIM_MISSING:
            return fail("There is no SIM in the modem.")
        return fail("ModemManager says that the modem or its SIM failed.")
    if modem.lock in USABLE:
        return ok("It is ready.")
    left = "" if modem.tries is None else f" Tries that are left: {modem.tries}."
    if modem.lock != ModemLock.SIM_PIN:
        return fail("It is locked, and not by its PIN: put it into a phone, and unlock it there.")
    if has_pin:
        return ok(f"It wants its PIN, which `risala serve` types.{left}")
    return fail(f"The SIM needs its PIN. Set pin_env.{left}")


def _network(modem: SeenModem) -> CheckVerdict:
    if modem.state == ModemState.DISABLED:
        return warn("The modem is switched off; `risala serve` switches it on.")
    if modem.registration == DENIED:
        return fail("The network denies this SIM; ask its operator.")
    if not modem.is_registered:
        return fail("Searching for a network.")
    return ok(f"Registered ({modem.operator})." if modem.operator else "Registered.")


def _properties(interfaces: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    answers = []
    for interface, names in KEPT.items():
        properties = interfaces.get(interface, {})
        kept = {name: _plain(properties[name][1]) for name in names if name in properties}
        result = "OK" if interface in interfaces else "not there"
        answers.append({"asked": interface, "result": result, "answer": kept})
    kinds = Counter(int(port[1]) for port in interfaces.get(MODEM, {}).get("Ports", ("", ()))[1])
    answers.append({"asked": "kinds of ports", "result": "OK", "answer": _counted(kinds)})
    answers.append({"asked": "interfaces", "result": "OK", "answer": sorted(interfaces)})
    return answers


async def _texts(bus: ModemBus, modem: SeenModem) -> dict[str, Any]:
    """How many texts are in each state."""
    if not modem.has_messaging:
        return {"asked": "texts", "result": "not there", "answer": {}}
    (paths,) = await bus.call(modem.path, f"{MESSAGING}.List")
    states: Counter[str] = Counter()
    for path in [*paths][:TEXTS_MAX]:
        try:
            (state,) = await bus.call(path, f"{PROPERTIES}.Get", "ss", (SMS, "State"))
        except BusCallError:
            continue  # it went meanwhile
        states[_STATES.get(int(state[1]), str(state[1]))] += 1
    return {"asked": "texts", "result": "OK", "answer": dict(states)}


def _counted(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(kind): count for kind, count in sorted(counts.items())}


def _plain(value: Any) -> Any:  # noqa: ANN401 -- whatever D-Bus has
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value[:VALUE_CHARACTERS_MAX] if isinstance(value, str) else value
