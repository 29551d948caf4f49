"""The machine's data about a serial port: our access, other users of it, and its USB device.

Read from Linux's ``/proc``, ``/sys``, ``/dev`` and udev's notes; nothing is changed. If the machine
does not provide it (another system, another user's process), the answer is empty.
"""

from __future__ import annotations

import grp
import os
import pwd
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from risala.dataclass import dataclass
from risala.drivers.modem.port.usb import UsbDevice, hilink_sticks, usb_device_of

MODEM_MANAGER: Final = "ModemManager"
_INTERFACE: Final = re.compile(r"-if[0-9a-f]{2}(?:-port[0-9]+)?$")
"""The end of a name under ``/dev/serial/by-id``; ports that differ in it alone belong to one USB
device."""
_LEFT_ALONE: Final = ("E:ID_MM_DEVICE_IGNORE=1", "E:ID_MM_PORT_IGNORE=1")
_COMMAND_MAX: Final = 4096
_PTMX: Final = "/dev/ptmx"
_PTS: Final = "/dev/pts/"
_PTY_MAJORS: Final = range(136, 144)
"""Major numbers of pseudo terminals' devices (Unix98; the kernel's devices.txt)."""
_MEMORY_MAJOR: Final = 1
"""Major number of /dev/null, /dev/zero and /dev/random, which are no terminals."""
_TERMINALS: Final = ("tty", "usb", "usbmisc", "wwan", "rfcomm")
"""Classes of devices that take AT commands; some modems have a port that is no tty."""
_KINDS: Final = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISBLK, "a disk"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISFIFO, "a pipe"),
)


@dataclass(frozen=True, slots=True)
class Access:
    """Whether this user may read and write a device."""

    may: bool
    group: str
    """The group that may read and write the device; empty if no group may."""
    user: str
    is_member: bool
    """The user is in the group by the machine's list; a session that was logged in before does not
    have it yet."""


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    name: str
    is_service: bool
    """The process is ``risala serve``."""

    @property
    def title(self) -> str:
        """``minicom (process 123)``."""
        name = "the Risala service" if self.is_service else self.name
        return f"{name} (process {self.pid})"


class Host:
    """The machine that runs this process, as ``/proc``, ``/sys`` and ``/dev`` below ``root`` show
    it."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    # -- access -------------------------------------------------------------------------------

    def access(self, port: str) -> Access | None:
        """Whether this user may open a device; None if the device cannot be examined."""
        try:
            status = os.stat(port)
        except OSError:
            return None
        may = os.access(port, os.R_OK | os.W_OK)
        group = _group(status.st_gid) if status.st_mode & 0o060 == 0o060 else ""
        user = _user(os.geteuid())
        return Access(may, group, user, is_member=bool(group) and user in _members(group))

    # -- other processes ----------------------------------------------------------------------

    def processes(self) -> Iterator[Process]:
        """Every other process that this user may see."""
        for directory in (self._root / "proc").glob("[0-9]*"):
            pid = int(directory.name)
            if pid == os.getpid():
                continue
            with suppress(OSError):
                name = (directory / "comm").read_text(errors="replace").strip()
                with (directory / "cmdline").open("rb") as file:
                    words = file.read(_COMMAND_MAX).decode(errors="replace").split("\0")
                yield Process(pid, name, _is_service(words))

    def holders(self, port: str) -> list[Process]:
        """The processes that have the port open. One that has only the other end of a pty open is
        not included: it simulates the modem."""
        device = os.path.realpath(port)
        return [process for process in self.processes() if self._holds(process.pid, device)]

    def _holds(self, pid: int, device: str) -> bool:
        directory = self._root / "proc" / str(pid)
        holds = False
        try:
            descriptors = os.listdir(directory / "fd")
        except OSError:
            return False  # another user's process: its open files are hidden from us
        for number in descriptors:
            with suppress(OSError):
                target = os.readlink(directory / "fd" / number)
                if target == device and _is_of_this_system(directory / "fd" / number, device):
                    holds = True
                elif target == _PTMX and device.startswith(_PTS):
                    info = (directory / "fdinfo" / number).read_text()
                    if f"tty-index:\t{device.rpartition('/')[2]}\n" in info:
                        return False
        return holds

    # -- type of device -----------------------------------------------------------------------

    def no_port(self, path: str) -> str:
        """The type of something that is no serial port (“is a directory”); empty if it may be one.

        The device itself is not touched: opening a port changes its control lines.
        """
        try:
            status = os.stat(path)
        except OSError:
            return ""
        mode = status.st_mode
        if stat.S_ISCHR(mode):
            return "" if self._is_terminal(status.st_rdev) else "is a device, but no serial port"
        kind = next((word for test, word in _KINDS if test(mode)), "no device")
        return f"is {kind}, and no serial port"

    def _is_terminal(self, device: int) -> bool:
        """Whether a device takes AT commands; True also if unknown. Ends of pseudo terminals are in
        no class of devices and are recognised by their major number."""
        if os.major(device) in _PTY_MAJORS:
            return True
        name = f"{os.major(device)}:{os.minor(device)}"
        try:
            subsystem = os.readlink(self._root / "sys/dev/char" / name / "subsystem")
        except OSError:
            return os.major(device) != _MEMORY_MAJOR
        return os.path.basename(subsystem) in _TERMINALS

    def names(self) -> dict[str, str]:
        """The paths under ``/dev/serial/by-id``, each with the device that it leads to."""
        try:
            links = sorted((self._root / "dev/serial/by-id").iterdir())
        except OSError:
            return {}
        return {str(path): os.path.realpath(path) for path in links}

    def siblings(self, port: str) -> list[str]:
        """The other ports of the same stick, by their by-id names."""
        names, device = self.names(), os.path.realpath(port)
        own = next((name for name, target in names.items() if target == device), None)
        if own is None:
            return []
        stick = _INTERFACE.sub("", own)
        return [name for name in names if name != own and _INTERFACE.sub("", name) == stick]

    def usb(self, port: str) -> UsbDevice | None:
        """The USB device that it belongs to; None if it is not on USB."""
        return usb_device_of(port, self._root / "sys")

    def hilink_sticks(self) -> list[str]:
        """The sticks that are asked over HTTP, by vendor and product."""
        return hilink_sticks(self._root / "sys")

    def is_left_alone(self, port: str) -> bool:
        """Whether udev has a note that ModemManager must leave this port alone."""
        with suppress(OSError):
            device = os.stat(port).st_rdev
            name = f"c{os.major(device)}:{os.minor(device)}"
            notes = (self._root / "run/udev/data" / name).read_text(errors="replace")
            return any(line in _LEFT_ALONE for line in notes.splitlines())
        return False


def _is_of_this_system(held: Path, device: str) -> bool:
    """Whether an open file is the device that we see: in a container the same name is another
    pseudo terminal, of a file system of its own."""
    if not device.startswith(_PTS):
        return True
    return held.stat().st_dev == os.stat(device).st_dev


def _is_service(words: list[str]) -> bool:
    """Whether a command line is ``risala serve``, ``python -m risala serve`` or ``risala.pyz
    serve``, with options anywhere."""
    names = [os.path.basename(word).removesuffix(".pyz") for word in words]
    return "risala" in names and "serve" in names[names.index("risala") :]


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)


def _members(group: str) -> list[str]:
    try:
        return grp.getgrnam(group).gr_mem
    except KeyError:
        return []


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
