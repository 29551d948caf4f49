"""A serial port as a Trio stream. The only module that uses pyserial.

pyserial opens, configures and locks the port. We read and write its file descriptor ourselves, so
that reading and writing can be cancelled at once. pyserial sets VMIN=0, so that a read without data
returns ``b""``, as it also does on a line that was hung up: therefore wait until the port is
readable, then read, and ``b""`` means that it was hung up.
"""

from __future__ import annotations

import errno
import os
import termios
import threading
from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import serial
import serial.tools.list_ports
import trio

from risala.dataclass import dataclass
from risala.plugins.unsent import drop_unsent_at_close

_READ_OCTETS: Final = 4096
"""Octets to read at once: the kernel's line discipline buffers no more."""
_CLOSE_S: Final = 5.0
"""The longest wait for closing. With a hanging device it can take half a minute; the closing thread
is then abandoned."""
_TCP: Final = "socket"

_threads: Final = trio.CapacityLimiter(64)
"""A separate limit for threads that open and close ports: hanging ports must not use up the shared
threads."""


class PortFault(StrEnum):
    MISSING = "missing"
    FORBIDDEN = "forbidden"
    BUSY = "busy"
    OTHER = "other"


class PortError(Exception):
    """A port cannot be opened; ``str()`` is the reason, and what to do, in one sentence."""

    def __init__(self, fault: PortFault, text: str) -> None:
        super().__init__(text)
        self.fault = fault


_FAULTS: Final = {
    errno.ENOENT: PortFault.MISSING,
    errno.ENODEV: PortFault.MISSING,
    errno.ENXIO: PortFault.MISSING,
    errno.EACCES: PortFault.FORBIDDEN,
    errno.EPERM: PortFault.FORBIDDEN,
    errno.EBUSY: PortFault.BUSY,
    errno.EAGAIN: PortFault.BUSY,
}
_ADVICE: Final = {
    PortFault.MISSING: "{port} does not exist. Check that the modem is plugged in.",
    PortFault.FORBIDDEN: ("This user may not open {port}. Add the user to the group dialout."),
    PortFault.BUSY: (
        "{port} is in use by another program, often ModemManager or a second Risala. Stop it, "
        "or keep it from using this port."
    ),
    PortFault.OTHER: (
        "{port} is no serial port, or its device does not work; `risala modem probe` lists those "
        "that there are."
    ),
}


def _port_error(port: str, error: OSError) -> PortError:
    fault = _FAULTS.get(error.errno or 0, PortFault.OTHER)
    return PortError(fault, _ADVICE[fault].format(port=port))


def is_tcp(port: str) -> bool:
    """True for ``socket://host:port``, a modem behind ser2net or the like."""
    return urlsplit(port).scheme == _TCP


def is_there(port: str) -> bool:
    """Whether the port's device is plugged in; always True for TCP, whose other end is unknown."""
    return is_tcp(port) or Path(port).exists()


@dataclass(frozen=True, slots=True)
class PortSeen:
    """A serial port of this machine."""

    device: str
    description: str
    """The description by its USB device; empty if it has none."""


def ports_seen() -> list[PortSeen]:
    """The serial ports that are there, modems or not."""
    return [
        PortSeen(port.device, "" if port.description in (None, "n/a") else str(port.description))
        for port in sorted(serial.tools.list_ports.comports(), key=lambda port: port.device)
    ]


async def open_port(port: str, baud: int) -> trio.abc.Stream:
    """Open a device by its path, or ``socket://host:port``. Bring a deadline.

    Raises:
        PortError: it cannot be opened.
    """
    if is_tcp(port):
        where = urlsplit(port)
        try:
            stream = await trio.open_tcp_stream(where.hostname or "", where.port or 0)
        except OSError as error:
            raise PortError(PortFault.MISSING, f"No connection to {port}.") from error
        drop_unsent_at_close(stream, is_on=True)
        return stream
    opening = _Opening(port, baud)
    try:
        await trio.to_thread.run_sync(opening.run, abandon_on_cancel=True, limiter=_threads)
    except BaseException:
        opening.abandon()
        raise
    return SerialStream(opening.result())


class _Opening:
    """Opens a port in a thread, which cannot be cancelled: if the wait for it was, it closes the
    port that it opened."""

    def __init__(self, port: str, baud: int) -> None:
        self._port = port
        self._baud = baud
        self._lock = threading.Lock()
        self._abandoned = False
        self._opened: serial.Serial | None = None

    def run(self) -> None:
        try:
            opened = serial.Serial(
                self._port, self._baud, timeout=0, write_timeout=0, exclusive=True
            )
        except (OSError, ValueError, termios.error) as error:
            cause = error if isinstance(error, OSError) else OSError(str(error))
            raise _port_error(self._port, cause) from error
        with self._lock:
            if not self._abandoned:
                self._opened = opened
                return
        _close(opened)

    def abandon(self) -> None:
        with self._lock:
            self._abandoned = True
            opened, self._opened = self._opened, None
        if opened is not None:
            threading.Thread(target=_close, args=(opened,), daemon=True).start()

    def result(self) -> serial.Serial:
        assert self._opened is not None
        return self._opened


def _close(port: serial.Serial) -> None:
    # Drop unwritten octets: closing would wait until the device takes them.
    with suppress(OSError, termios.error):
        port.reset_output_buffer()
    with suppress(OSError):
        port.close()


class SerialStream(trio.abc.Stream):
    """One task may read while another writes; a read ends with ``b""`` when the line hung up."""

    def __init__(self, port: serial.Serial) -> None:
        self._port = port
        self._fd: int = port.fileno()
        self._closed = False
        os.set_blocking(self._fd, False)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        while True:
            self._check_open()
            await trio.lowlevel.wait_readable(self._fd)
            self._check_open()
            try:
                return os.read(self._fd, max_bytes or _READ_OCTETS)
            except BlockingIOError:
                continue  # the port was readable, but another process read the octets first
            except OSError:
                return b""  # EIO, ENODEV: unplugged

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self._check_open()
        await trio.lowlevel.checkpoint()
        with memoryview(data) as view:
            at = 0
            while at < len(view):
                self._check_open()
                try:
                    at += os.write(self._fd, view[at:])
                except BlockingIOError:
                    await trio.lowlevel.wait_writable(self._fd)
                except OSError as error:
                    raise trio.BrokenResourceError("the port was hung up") from error

    async def wait_send_all_might_not_block(self) -> None:
        self._check_open()
        await trio.lowlevel.wait_writable(self._fd)

    async def aclose(self) -> None:
        """Close in a thread; waits for a few seconds at most. Tasks that read or write the port get
        :class:`trio.ClosedResourceError`."""
        if not self._closed:
            self._closed = True
            trio.lowlevel.notify_closing(self._fd)
            with trio.move_on_after(_CLOSE_S, shield=True):
                await trio.to_thread.run_sync(
                    _close, self._port, abandon_on_cancel=True, limiter=_threads
                )
        await trio.lowlevel.checkpoint()

    def lines(self) -> Mapping[str, bool | None]:
        """The control lines, for diagnosis; None if the device has none (ENOTTY for a pty)."""
        levels: dict[str, bool | None] = {}
        for name in ("dtr", "rts", "cts", "dsr", "cd"):
            try:
                levels[name] = bool(getattr(self._port, name))
            except OSError:
                levels[name] = None
        return levels

    def _check_open(self) -> None:
        if self._closed:
            raise trio.ClosedResourceError
