"""Checking a GSM modem: its type, whether it can send, and what to do if it cannot."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from risala.cli.reach.logs import log_to_stderr
from risala.cli.reach.options import Options, common
from risala.cli.reach.refused import CommandRefused
from risala.cli.show import output

if TYPE_CHECKING:
    from risala.drivers.modem.doctor.findings import Findings
    from risala.drivers.modem.doctor.ports import Candidate
    from risala.drivers.modem.settings import ModemSettings

_DRIVER: Final = "modem"


@click.group()
def modem() -> None:
    """Look at a GSM modem, without a service. Sends nothing, and changes nothing for good.

    PORT is a device (/dev/serial/by-id/…), socket://host:port, or the name of a carrier of the
    settings, whose port, PIN and SMSC number are taken then.

    \b
    Example: risala modem probe
    """


def _asking(command: Callable[..., None]) -> Callable[..., None]:
    """The options of both commands."""
    for option in reversed(
        (
            click.option(
                "--baud",
                type=click.IntRange(300, 4_000_000),
                default=115200,
                show_default=True,
                help="Has no effect on USB.",
            ),
            click.option(
                "--pin-env", metavar="VAR", help="The environment variable with the SIM's PIN."
            ),
            click.option(
                "--type-pin",
                is_flag=True,
                help="The PIN is surely right: type it even after a wrong one, but never as the "
                "last try, if the modem says how many are left.",
            ),
            click.option(
                "--timeout-s",
                type=click.FloatRange(1, 3600),
                default=120.0,
                show_default=True,
                help="The time limit for all checks together.",
            ),
        )
    ):
        command = option(command)
    return command


@modem.command()
@click.argument("port", required=False)
@_asking
@common
def probe(options: Options, /, port: str | None, **asking: Any) -> None:  # noqa: ANN401
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
        _list(options, asking["baud"])
        return
    examined = _examine(options, port, **asking)
    if not output.show(options.json, _payload(examined)) and examined.can_send is not None:
        output.table(("", "Found"), _rows(examined), empty="")
    if examined.can_send is False:
        raise CommandRefused(examined.verdict)
    if not options.json:
        output.said(examined.verdict)


@modem.command()
@click.argument("port")
@_asking
@common
def doctor(options: Options, /, port: str, **asking: Any) -> None:  # noqa: ANN401
    """Check everything that keeps a modem from sending, and say what to do.

    Exit code 1 when a check fails.

    \b
    Examples:
      risala modem doctor /dev/ttyUSB0
      risala modem doctor sim-1
    """
    log_to_stderr()
    examined = _examine(options, port, **asking)
    if not output.show(options.json, _payload(examined)):
        output.table(
            ("Check", "", "What it means, and what to do"),
            ((check.name, check.state, check.text) for check in examined.checks),
            empty="",
        )
    if examined.failed:
        raise CommandRefused(f"Failed: {', '.join(check.name for check in examined.failed)}.")
    if not options.json:
        output.said(examined.verdict)


# -- checks -----------------------------------------------------------------------------------


def _examine(
    options: Options,
    port: str,
    *,
    baud: int,
    pin_env: str | None,
    type_pin: bool,
    timeout_s: float,
) -> Findings:
    from risala.cli.reach import session
    from risala.drivers.modem.doctor.bench import Bench
    from risala.drivers.modem.doctor.doctor import examine
    from risala.drivers.modem.notefile import NoteFile, notes_path
    from risala.drivers.modem.port.host import Host
    from risala.drivers.modem.ready.pin import PinMemory

    settings = _settings(options, port, baud, pin_env)
    memory = PinMemory(NoteFile(notes_path()))
    bench = Bench(settings, memory=memory, types_anyway=type_pin, host=Host())

    async def main() -> Findings:
        with _shown(quiet=options.json) as on_check:
            return await examine(bench, timeout_s, on_check)

    return session.run_async(main)


def _settings(options: Options, port: str, baud: int, pin_env: str | None) -> ModemSettings:
    """The modem's settings, from the options or from a carrier's table.

    Raises:
        CommandRefused: they are wrong; the sentence never holds the PIN.
    """
    from pydantic import ValidationError

    from risala.config.faults import ConfigError
    from risala.config.secrets import resolve_secrets
    from risala.drivers.modem.settings import ModemSettings

    table: dict[str, Any] = {"port": port, "baud": baud}
    if "/" not in port and not os.path.exists(port):
        table = _table(options, port)
    elif "://" not in port:
        table["port"] = os.path.abspath(port)
    if pin_env is not None:
        table["pin_env"] = pin_env
    try:
        return ModemSettings.model_validate(resolve_secrets(table))
    except ConfigError as error:
        raise CommandRefused(str(error)) from None
    except ValidationError as error:
        # Pydantic's own error is not shown: it holds the values, and one may be the PIN.
        faults = (
            f"{'.'.join(map(str, each['loc']))}: {each['msg'].removeprefix('Value error, ')}"
            for each in error.errors(include_url=False, include_input=False)
        )
        raise CommandRefused("; ".join(faults)) from None


def _table(options: Options, name: str) -> dict[str, Any]:
    """The driver's table of a carrier."""
    carriers = [each for each in options.settings().carriers if each.driver == _DRIVER]
    carrier = next((each for each in carriers if each.name == name), None)
    if carrier is not None:
        return carrier.settings
    names = ", ".join(each.name for each in carriers)
    raise CommandRefused(
        f"{name} is neither a port (/dev/…, socket://…) nor a carrier with a modem"
        + (f"; those are: {names}." if names else " of the settings.")
    )


@contextmanager
def _shown(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Shows the check that is under way on stderr, if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda name: status.update(f"{name} …")


# -- which ports are modems ---------------------------------------------------------------------


def _list(options: Options, baud: int) -> None:
    from risala.cli.reach import session
    from risala.drivers.modem.doctor.ports import ask_all, candidates
    from risala.drivers.modem.port.host import Host

    async def main() -> list[Candidate]:
        host = Host()
        return await ask_all(candidates(host), baud, holders=host.holders)

    ports = session.run_async(main)
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
    if not any(each.answers or each.served for each in ports):
        raise CommandRefused(
            "No modem answers. Check the plug and the hub, and that no other program uses the "
            "modem."
        )
    if not options.json:
        output.said("For details: risala modem probe PORT")


# -- output ---------------------------------------------------------------------------------------


def _payload(findings: Findings) -> dict[str, Any]:
    return {
        "port": findings.port,
        "canSend": findings.can_send,
        "verdict": findings.verdict,
        "modem": findings.facts(),
        "checks": [asdict(check) for check in findings.checks],
    }


def _rows(findings: Findings) -> Iterator[tuple[str, object]]:
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
