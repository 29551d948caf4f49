"""Checks of the machine of a modem: its device, and the access to it."""

from __future__ import annotations

from typing import Final

import trio

from risala.drivers.modem.doctor.bench import Bench
from risala.drivers.modem.doctor.findings import CheckVerdict, fail, ok, warn
from risala.drivers.modem.port.host import MODEM_MANAGER, Host, Process
from risala.drivers.modem.port.serial import PortError, PortFault, is_tcp

_LIST: Final = "`risala modem probe` without a port looks at all serial ports that there are."
_TCP = ok("It is reached over TCP.")
_OTHER_DRIVER: Final = 'driver = "modemmanager"'


async def device(bench: Bench) -> CheckVerdict:
    await trio.lowlevel.checkpoint()
    if is_tcp(bench.port):
        return _TCP
    if bench.is_there(bench.port):
        wrong = bench.host.no_port(bench.port)
        if wrong:
            return fail(f"{bench.port} {wrong}. {_LIST}")
        return ok(f"{bench.port} is there.")
    there = list(bench.host.names())
    seen = f"There are: {', '.join(there)}." if there else "No modem is seen at all."
    return fail(
        f"{bench.port} does not exist. Check the plug, the hub's power and the name. {seen} {_LIST}"
    )


async def permission(bench: Bench) -> CheckVerdict:
    await trio.lowlevel.checkpoint()
    access = None if is_tcp(bench.port) else bench.host.access(bench.port)
    if access is None:
        return ok("Opening it will tell.") if not is_tcp(bench.port) else _TCP
    if access.may:
        return ok(f"{access.user} may open it.")
    if access.is_member:
        return fail(
            f"{access.user} is in the group {access.group}, but was not yet at this log-in: log "
            "in again, or restart the service."
        )
    if not access.group or access.group == "root":
        return fail(
            f"Only root may open {bench.port}. A rule of udev gives it to a group: "
            'SUBSYSTEM=="tty", GROUP="dialout", MODE="0660".'
        )
    return fail(
        f"{bench.port} belongs to the group {access.group}, and {access.user} is not in it: "
        f"`sudo usermod -aG {access.group} {access.user}`, then log in again."
    )


async def modem_manager(bench: Bench) -> CheckVerdict:
    await trio.lowlevel.checkpoint()
    running = next((each for each in bench.host.processes() if _is_modem_manager(each)), None)
    if running is None:
        return ok("It does not run.")
    if bench.host.is_left_alone(bench.port):
        return ok("It runs, and is told to leave this port alone.")
    return warn(
        f"{running.title} runs, and takes modems from others. Without need of it: "
        "`sudo systemctl disable --now ModemManager`. To use the modem through it: "
        f"{_OTHER_DRIVER}. Else a rule in /etc/udev/rules.d, and a "
        f"replug: {_rule(bench.host, bench.port)}"
    )


def _rule(host: Host, port: str) -> str:
    ids = host.usb(port)
    vendor, product = (ids.vendor, ids.product) if ids else ("VVVV", "PPPP")
    rule = (
        f'ATTRS{{idVendor}}=="{vendor}", ATTRS{{idProduct}}=="{product}", '
        'ENV{ID_MM_DEVICE_IGNORE}="1"'
    )
    return rule if ids else f"{rule} (`lsusb` shows VVVV:PPPP)"


async def free(bench: Bench) -> CheckVerdict:
    """Is the port free? Opens it: there is no other sure way."""
    holders = [] if is_tcp(bench.port) else bench.host.holders(bench.port)
    try:
        await bench.open()
    except PortError as fault:
        return _closed(bench, fault, holders)
    if holders:
        return fail(
            f"{_titles(holders)} has the port open too and takes part of the answers: "
            f"{_advice(holders)}"
        )
    return ok("It opens, and nobody else has it.")


def _closed(bench: Bench, fault: PortError, holders: list[Process]) -> CheckVerdict:
    if fault.fault is PortFault.FORBIDDEN:
        return fail(
            f"{bench.port} may not be opened although its permissions allow it: by a sandbox such "
            "as PrivateDevices= of a systemd unit."
        )
    if fault.fault is not PortFault.BUSY:
        return fail(str(fault))
    if holders:
        return _held(bench, holders, f"{_titles(holders)} has the port")
    # Files opened by other users' processes are hidden from us. If a program known to take modems
    # runs, it most likely has this one.
    likely = [each for each in bench.host.processes() if _takes_modems(each)]
    if likely:
        return _held(bench, likely, f"The port is in use, probably by {_titles(likely)}")
    return fail(
        f"The port is in use by another user's program: `sudo fuser -v {bench.port}` names it; "
        "stop it."
    )


def _held(bench: Bench, holders: list[Process], text: str) -> CheckVerdict:
    """The verdict on a port that another process has open: fine if that is the Risala service; any
    other process is in the way."""
    text = f"{text}: {_advice(holders)}"
    if not all(each.is_service for each in holders):
        return fail(text)
    bench.findings.served_by = _titles(holders)
    return ok(text)


def _titles(processes: list[Process]) -> str:
    return ", ".join(each.title for each in processes)


def _advice(holders: list[Process]) -> str:
    if all(each.is_service for each in holders):
        return "that is as it should be; `risala carriers` tells how the modem is."
    if any(_is_modem_manager(each) for each in holders):
        return (
            f"{_OTHER_DRIVER} uses it there. Or `sudo systemctl disable --now ModemManager`, or "
            "write the rule for it (see above)."
        )
    return "stop it."


def _takes_modems(process: Process) -> bool:
    return process.is_service or _is_modem_manager(process)


def _is_modem_manager(process: Process) -> bool:
    return process.name == MODEM_MANAGER
