"""The port of a simulated modem: a pseudo-terminal with a link to it, or a TCP port."""

from __future__ import annotations

import os
import tty
from contextlib import suppress
from pathlib import Path
from typing import Final

import trio

_READ_OCTETS: Final = 4096


class PortLinkError(Exception):
    """The link cannot be made; ``str()`` is the reason, in one sentence."""


class PtyStream(trio.abc.Stream):
    """The modem's end of a pseudo-terminal.

    The other end is held open here too, because a serial port outlasts its clients: without that,
    each client that closes it would hang up the line (EIO), and the next could not open it.
    """

    def __init__(self) -> None:
        self._fd, self._other = os.openpty()
        tty.setraw(self._other)
        os.set_blocking(self._fd, False)
        self.path = os.ttyname(self._other)
        self._closed = False

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        while True:
            self._check_open()
            await trio.lowlevel.wait_readable(self._fd)
            self._check_open()
            with suppress(BlockingIOError):
                return os.read(self._fd, max_bytes or _READ_OCTETS)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await trio.lowlevel.checkpoint()
        with memoryview(data) as view:
            at = 0
            while at < len(view):
                self._check_open()
                try:
                    at += os.write(self._fd, view[at:])
                except BlockingIOError:
                    await trio.lowlevel.wait_writable(self._fd)

    async def wait_send_all_might_not_block(self) -> None:
        self._check_open()
        await trio.lowlevel.wait_writable(self._fd)

    def _check_open(self) -> None:
        if self._closed:
            raise trio.ClosedResourceError

    def close(self) -> None:
        """Hang up: a client at the other end gets a signal."""
        if not self._closed:
            self._closed = True
            trio.lowlevel.notify_closing(self._fd)
            os.close(self._fd)
            os.close(self._other)

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()


class PortLink:
    """A symbolic link that leads to the port while there is one, as ``/dev/serial/by-id`` does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._target: str | None = None

    def make(self, target: str) -> None:
        """Make the link.

        Args:
            target: the port that it leads to.

        Raises:
            PortLinkError: something else is at its place, or its folder cannot be written to.
        """
        try:
            self._check_place()
            fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(target)
            fresh.replace(self.path)
        except OSError as error:
            raise PortLinkError(f"{self.path} cannot be created: {error.strerror}.") from error
        self._target = target

    def _check_place(self) -> None:
        """Refuse a place at which anything but a link of another simulator is."""
        if self.path.is_symlink():
            if self.path.exists() and not str(self.path.resolve()).startswith("/dev/pts/"):
                raise PortLinkError(f"{self.path} leads to something else.")
        elif self.path.exists():
            raise PortLinkError(f"{self.path} is there already, and is no link.")

    def remove(self) -> None:
        """Remove the link, unless another simulator has replaced it."""
        with suppress(OSError):
            if self._target is not None and str(self.path.readlink()) == self._target:
                self.path.unlink()
        self._target = None
