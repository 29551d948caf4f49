"""Checking a GSM modem: its type, whether it can send, and what to do if it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.commands.upkeep.modem_report import report
from risala.cli.commands.upkeep.modem_ways import asking
from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.cli.commands.upkeep.modem_examining import ModemExamined
    from risala.drivers.modem.doctor.findings import Findings
    from risala.drivers.modem.doctor.ports import Candidate

_TITLES: Final = {
    "manager": "ModemManager",
    "model": "Model",
    "imei": "IMEI",
    "imsi": "IMSI",
    "iccid": "ICCID",
    "number": "Number",
    "operator": "Operator",
    "signal_dbm": "Signal, dBm",
    "signalPercent": "Signal, per cent",
    "storage": "Storage, used of all",
}


@click.group()
def modem() -> None:
    """Look at a GSM modem, without a service. Sends nothing, and changes nothing for good.

    PORT is a device (/dev/serial/by-id/…), socket://host:port, the address of a HiLink stick
    (http://192.168.8.1), modemmanager, modemmanager:IMEI, or the name of a carrier of the settings,
    which are taken then.

    \b
    Example: risala modem probe
    """


@modem.command()
@click.argument("port", required=False)
@asking
@common
def probe(
    options: Options,
    /,
    port: str | None,
    baud: int,
    **asking_options: Any,  # noqa: ANN401
) -> None:
    """What is at PORT, and can it send? Without PORT: which serial ports are modems?

    Exit code 1 where it cannot send, or no port answers. A port that the Risala service has is
    well, and is left to it.

    \b
    Examples:
      risala modem probe
      risala modem probe /dev/ttyUSB0 --pin-env SIM1_PIN --type-pin
    """
    log_to_stderr()
    if port is None:
        _list(options, baud)
        return
    from risala.cli.commands.upkeep.modem_examining import examined

    examination = examined(options, port, baud=baud, **asking_options)
    if not output.show(options.json, examination.payload) and examination.can_send is not None:
        output.table(("", "Found"), _rows(examination), empty="")
    if examination.can_send is False:
        raise CommandRefused(examination.verdict)
    if not options.json:
        output.said(examination.verdict)


@modem.command()
@click.argument("port")
@asking
@common
def doctor(options: Options, /, port: str, **asking_options: Any) -> None:  # noqa: ANN401
    """Check everything that keeps a modem from sending, and say what to do.

    Exit code 1 when a check fails.

    \b
    Examples:
      risala modem doctor /dev/ttyUSB0
      risala modem doctor sim-1
    """
    from risala.cli.commands.upkeep.modem_examining import examined

    log_to_stderr()
    examination = examined(options, port, **asking_options)
    if not output.show(options.json, examination.payload):
        output.table(("Check", "", "What it means, and what to do"), examination.checks, empty="")
    if examination.failed:
        raise CommandRefused(f"Failed: {', '.join(examination.failed)}.")
    if not options.json:
        output.said(examination.verdict)


modem.add_command(report)


# -- which ports are modems ---------------------------------------------------------------------


def _list(options: Options, baud: int) -> None:
    from risala.cli.reach import session
    from risala.drivers.modem.doctor.ports import ask_all, candidates, without_port
    from risala.drivers.modem.port.host import Host

    host = Host()

    async def main() -> list[Candidate]:
        return await ask_all(candidates(host), baud, holders=host.holders)

    sticks = without_port(host)
    ports = [*session.run_async(main), *sticks]
    if not output.show(options.json, {"ports": [asdict(each) for each in ports]}):
        output.table(
            ("Port", "Device", "Answers AT", "Modem", "IMEI", "What it says"),
            (
                (
                    each.port,
                    each.device,
                    each.answers,
                    each.modem or each.description or None,
                    each.imei or None,
                    each.text or None,
                )
                for each in ports
            ),
            empty="There is no serial port.",
        )
    if not sticks and not any(each.answers or each.served for each in ports):
        raise CommandRefused(
            "No modem answers. Check the plug and the hub, and that no other program uses the "
            "modem. A stick with a page in place of a port: risala modem probe http://192.168.8.1"
        )
    if not options.json:
        output.said("For details: risala modem probe PORT")


# -- output ---------------------------------------------------------------------------------------


def _rows(examination: ModemExamined) -> Iterator[tuple[str, object]]:
    """What was found, as rows for people."""
    if examination.at_port is not None:
        yield from _at_port_rows(examination.at_port)
        return
    for name, value in examination.facts.items():
        yield _TITLES.get(name, name), value
    for name, state, text in examination.checks:
        if state == "warn":
            yield "Warning", f"{name}: {text}"


def _at_port_rows(findings: Findings) -> Iterator[tuple[str, object]]:
    """The findings as rows for people, with a dash for values that no check reached."""
    from risala.drivers.modem.doctor.findings import REGISTRATIONS, Strength

    facts = findings.facts()
    for title, name in (
        ("Manufacturer", "manufacturer"),
        ("Model", "model"),
        ("Firmware", "firmware"),
        ("IMEI", "imei"),
        ("IMSI", "imsi"),
        ("ICCID", "iccid"),
        ("SIM", "sim"),
    ):
        yield title, facts[name]
    registration = findings.registration
    yield "Registration", None if registration is None else REGISTRATIONS[registration]
    yield "Operator", findings.operator or None
    dbm, strength = findings.signal_dbm, Strength.of(findings.signal_dbm)
    yield "Signal", None if dbm is None else f"{strength.drawn} {dbm} dBm, {strength.word}"
    yield "SMSC number", findings.smsc or None
    for name, usage in findings.storages.items():
        used = " (chosen)" if name == findings.storage else ""
        yield f"Storage {name}", f"{usage.used} of {usage.total} taken{used}"
    yield "Messages as PDUs", findings.pdu_mode
    routing = findings.routing
    if routing is not None:
        yield "Announced by", f"CNMI {routing.text or 'none'}, CSMS {int(routing.acknowledges)}"
        yield "Status reports", routing.reports
    for quirk in findings.quirks:
        yield "Quirk", quirk
    for check in findings.warned:
        yield "Warning", f"{check.name}: {check.text}"
