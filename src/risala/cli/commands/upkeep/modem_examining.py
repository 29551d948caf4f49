"""A modem examined by any of its three ways, in one shape for the commands that show it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from risala.cli.commands.upkeep.modem_ways import AT_PORT, HILINK, MODEM_MANAGER, way_of
from risala.cli.reach.options import Options
from risala.cli.reach.refused import CommandRefused
from risala.dataclass import dataclass

if TYPE_CHECKING:
    from pydantic import BaseModel

    from risala.drivers.hilink.examining import StickFindings
    from risala.drivers.hilink.settings import HilinkSettings
    from risala.drivers.modem.doctor.findings import Findings
    from risala.drivers.modem.manager.examining import ManagedFindings

CAN_SEND: Final = "This modem can send."
TAIL_DIGITS: Final = 4
"""Digits of the SIM's numbers that are shown: enough to tell SIMs apart."""
CANNOT_SEND: Final = "This modem cannot send."


@dataclass(frozen=True, slots=True)
class ModemExamined:
    """What is known of a modem."""

    way: str
    """The name of the driver that it is for."""
    place: str
    """Its port, address or bus."""
    checks: Sequence[tuple[str, str, str]]
    """Name, state, and what it means."""
    facts: Mapping[str, Any]
    can_send: bool | None
    """None: the running service has the port, and can tell better."""
    verdict: str
    answers: Sequence[Mapping[str, Any]]
    """What a report asks besides; empty if it was not asked for."""
    secrets: Sequence[str]
    """What a report must not have."""
    at_port: Findings | None = None
    """More of it, at an AT port."""

    @property
    def failed(self) -> list[str]:
        """The names of the checks that failed."""
        return [name for name, state, _ in self.checks if state == "fail"]

    @property
    def payload(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "port": self.place,
            "canSend": self.can_send,
            "verdict": self.verdict,
            "modem": dict(self.facts),
            "checks": self.named_checks,
        }

    @property
    def named_checks(self) -> list[dict[str, str]]:
        """The checks, as JSON."""
        return [{"name": name, "state": state, "text": text} for name, state, text in self.checks]


def examined(
    options: Options,
    named: str,
    *,
    baud: int,
    pin_env: str | None,
    type_pin: bool,
    timeout_s: float,
    for_report: bool = False,
) -> ModemExamined:
    """Examine the modem that a command names.

    Raises:
        CommandRefused: there is no such modem in the settings, or they are wrong.
    """
    way, settings = way_of(options, named, baud, pin_env)
    if way == HILINK:
        return _stick(settings, timeout_s, for_report=for_report)
    if way == MODEM_MANAGER:
        return _managed(settings, timeout_s, for_report=for_report)
    return _at_port(
        settings, timeout_s, quiet=options.json, types_anyway=type_pin, for_report=for_report
    )


def _at_port(
    settings: Any,  # noqa: ANN401 -- ModemSettings, which is slow to import
    timeout_s: float,
    *,
    quiet: bool,
    types_anyway: bool,
    for_report: bool,
) -> ModemExamined:
    from risala.cli.reach import session
    from risala.drivers.modem.doctor.answers import ask_questions
    from risala.drivers.modem.doctor.bench import Bench
    from risala.drivers.modem.doctor.doctor import examine
    from risala.drivers.modem.notefile import NoteFile, notes_path
    from risala.drivers.modem.port.host import Host
    from risala.drivers.modem.ready.pin import PinMemory

    memory, host = PinMemory(NoteFile(notes_path())), Host()
    bench = Bench(settings, memory=memory, types_anyway=types_anyway, host=host)

    async def main() -> Findings:
        with _shown(quiet=quiet) as on_check:
            then = ask_questions if for_report else None
            return await examine(bench, timeout_s, on_check, then)

    findings = session.run_async(main)
    facts = findings.facts()
    if for_report:
        usb = host.usb(settings.port)
        facts["usb"] = f"{usb.vendor}:{usb.product}" if usb else None
        facts |= _of_network(findings)
    it = findings.identity
    return ModemExamined(
        AT_PORT,
        findings.port,
        [(each.name, each.state.value, each.text) for each in findings.checks],
        facts,
        findings.can_send,
        findings.verdict,
        findings.answers,
        [*_of_settings(settings), it.imei, it.imsi, it.iccid, it.number, findings.smsc],
        findings,
    )


def _of_network(findings: Findings) -> dict[str, Any]:
    """The modem's family, and its ways into the network."""
    from risala.drivers.modem.network.chips import chip_of

    service = findings.service
    return {
        "chip": chip_of(findings.identity).name or None,
        "network": {
            "circuit": None if service.circuit is None else service.circuit.name.lower(),
            "packet": None if service.packet is None else service.packet.name.lower(),
            "technology": service.technology,
            "way": service.way,
            "ims": service.ims,
        },
    }


def _managed(
    settings: Any,  # noqa: ANN401 -- ModemManagerSettings
    timeout_s: float,
    *,
    for_report: bool,
) -> ModemExamined:
    from risala.cli.reach import session

    try:
        from risala.drivers.modem.manager.examining import examine_managed
    except ModuleNotFoundError as missing:
        raise CommandRefused(str(missing)) from None

    async def main() -> ManagedFindings:
        return await examine_managed(settings, timeout_s, for_report=for_report)

    return of_managed(settings, session.run_async(main))


def of_managed(settings: BaseModel, findings: ManagedFindings) -> ModemExamined:
    """What was found of a modem of ModemManager."""
    seen, failed = findings.modem, findings.failed
    facts: dict[str, Any] = {"manager": findings.version or None}
    if seen is not None:
        facts |= {"model": seen.name, "imei": seen.imei or None, "number": seen.number or None}
        facts |= {"operator": seen.operator or None, "signalPercent": seen.signal}
    return ModemExamined(
        MODEM_MANAGER,
        MODEM_MANAGER,
        [(each.name, each.state.value, each.text) for each in findings.checks],
        facts,
        failed is None,
        CAN_SEND if failed is None else f"{CANNOT_SEND} {failed.text}",
        findings.answers,
        [*_of_settings(settings), *((seen.imei, seen.number, seen.device) if seen else ())],
    )


def _stick(
    settings: Any,  # noqa: ANN401 -- HilinkSettings
    timeout_s: float,
    *,
    for_report: bool,
) -> ModemExamined:
    from risala.cli.reach import session
    from risala.drivers.hilink.examining import examine_stick

    async def main() -> StickFindings:
        return await examine_stick(settings, timeout_s, for_report=for_report)

    return of_stick(settings, session.run_async(main))


def of_stick(settings: HilinkSettings, findings: StickFindings) -> ModemExamined:
    """What was found of a HiLink stick."""
    failed, facts = findings.failed, {**findings.facts}
    own = [str(facts.get(name) or "") for name in ("imei", "imsi", "iccid", "number")]
    for name in ("imsi", "iccid"):
        if name in facts:
            facts[name] = f"…{facts[name][-TAIL_DIGITS:]}"
    return ModemExamined(
        HILINK,
        settings.url,
        [(each.name, each.state, each.text) for each in findings.checks],
        facts,
        failed is None,
        CAN_SEND if failed is None else f"{CANNOT_SEND} {failed.text}",
        findings.answers,
        [*_of_settings(settings), *own],
    )


def _of_settings(settings: BaseModel) -> list[str]:
    """The values of the settings that are somebody's: a port's name may have a number in it."""
    from pydantic import SecretStr

    values = [getattr(settings, name, None) for name in ("pin", "password")]
    secrets = [each.get_secret_value() for each in values if isinstance(each, SecretStr)]
    names = ("port", "number", "smsc_number", "modem", "bus")
    return [*secrets, *(str(getattr(settings, name, None) or "") for name in names)]


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Shows the check that is under way on stderr, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda name: status.update(f"{name} …")
