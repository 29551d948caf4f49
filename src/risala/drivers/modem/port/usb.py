"""The USB device behind a serial port, and its reset: like a replug, but by software.

sysfs has ``/sys/class/tty/ttyUSB0/device``, which lies below the directory of the USB device; that
one has ``busnum`` and ``devnum``, which name the node ``/dev/bus/usb/BBB/DDD`` that takes the ioctl
``USBDEVFS_RESET`` (linux/usbdevice_fs.h).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import trio

from risala.dataclass import dataclass
from risala.drivers.modem.port.serial import is_tcp

_RESET: Final = 0x5514
"""``_IO('U', 20)``."""
_RESET_S: Final = 15.0
"""How long a reset is waited for: the kernel gives a device 5 s to answer and tries again, and a
device that hangs holds the calling thread for longer."""
_PARENTS_MAX: Final = 8
_HILINK: Final = ("12d1:14db", "12d1:14dc")
"""Huawei's sticks while they are network cards, as usb_modeswitch knows them."""
_threads: Final = trio.CapacityLimiter(16)
"""A separate limit for threads that reset devices: hanging resets must not use up the shared
threads."""


@dataclass(frozen=True, slots=True)
class UsbDevice:
    name: str
    """The device's place on the bus: ``1-1.2`` is bus 1, port 1, port 2 of the hub there."""
    node: Path
    vendor: str
    product: str


def usb_device_of(
    port: str, sysfs: Path = Path("/sys"), nodes: Path = Path("/dev/bus/usb")
) -> UsbDevice | None:
    """The device that a port belongs to; None if it is not on USB."""
    if is_tcp(port):
        return None
    place = sysfs / "class" / "tty" / Path(os.path.realpath(port)).name / "device"
    try:
        interface = place.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    for directory in (interface, *interface.parents[:_PARENTS_MAX]):
        bus, device = _read(directory / "busnum"), _read(directory / "devnum")
        if bus.isdecimal() and device.isdecimal():
            node = nodes / f"{int(bus):03}" / f"{int(device):03}"
            vendor, product = _read(directory / "idVendor"), _read(directory / "idProduct")
            return UsbDevice(directory.name, node, vendor, product)
    return None


def hilink_sticks(sysfs: Path = Path("/sys")) -> list[str]:
    """The sticks on USB that have a web page in place of a port, as ``12d1:14dc``."""
    return [
        kind
        for each in sorted((sysfs / "bus/usb/devices").glob("*"))
        if (kind := f"{_read(each / 'idVendor')}:{_read(each / 'idProduct')}") in _HILINK
    ]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


class UsbReset:
    """Resets the USB device behind a port; the system's files and the ioctl can be handed in."""

    def __init__(
        self,
        port: str,
        *,
        sysfs: Path = Path("/sys"),
        nodes: Path = Path("/dev/bus/usb"),
        ioctl: Callable[[int, int, int], object] = fcntl.ioctl,
    ) -> None:
        self._port = port
        self._sysfs = sysfs
        self._nodes = nodes
        self._ioctl = ioctl
        self._last_reason = ""

    async def __call__(self, trace: Callable[[str], None]) -> bool:
        """Reset; True if it was done. The device leaves the bus for a moment, and its port too.

        Runs in a thread, under a deadline.

        Args:
            trace: called with the reason if it was not done; the same reason only once.
        """
        with trio.move_on_after(_RESET_S):
            reason = await trio.to_thread.run_sync(
                self._reset, abandon_on_cancel=True, limiter=_threads
            )
            if reason and reason != self._last_reason:
                self._last_reason = reason
                trace(reason)
            return reason is None
        trace("The USB device did not come back after its reset.")
        return False

    def _reset(self) -> str | None:
        """Reset; None if it was done, else the reason. Empty for a port that is not on USB: not
        worth a report."""
        device = usb_device_of(self._port, self._sysfs, self._nodes)
        if device is None:
            return ""
        try:
            descriptor = os.open(device.node, os.O_WRONLY | os.O_CLOEXEC)
            try:
                self._ioctl(descriptor, _RESET, 0)
            finally:
                os.close(descriptor)
        except PermissionError:
            return _forbidden(device)
        except OSError as fault:
            return f"The USB device {device.name} was not reset: {fault.strerror or fault}."
        return None


def _forbidden(device: UsbDevice) -> str:
    return (
        f"The USB device {device.name} may not be reset by this user. To allow it, write into "
        f"/etc/udev/rules.d/62-modem-reset.rules: "
        f'SUBSYSTEM=="usb", ATTR{{idVendor}}=="{device.vendor}", '
        f'ATTR{{idProduct}}=="{device.product}", GROUP="dialout", MODE="0660"'
    )
