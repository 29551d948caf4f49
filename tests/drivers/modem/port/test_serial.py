"""Serial ports as streams, on a real pty: no fake knows what a terminal does."""

import errno
import os
import pty
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import suppress

import pytest
import trio

from patience import HANG_S, until_true
from risala.drivers.modem.driver import ModemDriver
from risala.drivers.modem.port.serial import (
    PortError,
    PortFault,
    SerialStream,
    is_tcp,
    is_there,
    open_port,
)
from risala.drivers.modem.settings import ModemSettings
from risala.plugins.contract import Accepted, HealthState, Unsent
from risala.plugins.testing.conformance import segment
from risala.plugins.testing.context import RecordingContext


class Pty:
    """The modem's side of a terminal pair; ``path`` is the port."""

    def __init__(self) -> None:
        self.fd, self._port = pty.openpty()
        tty.setraw(self._port)
        self.path = os.ttyname(self._port)
        os.set_blocking(self.fd, False)

    def unplug(self) -> None:
        """Both ends: the port then reports a hang-up."""
        for fd in (self._port, self.fd):
            if fd >= 0:
                with suppress(RuntimeError):  # outside of Trio nobody waits
                    trio.lowlevel.notify_closing(fd)
                os.close(fd)
        self.fd = self._port = -1

    async def read(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            await trio.lowlevel.wait_readable(self.fd)
            found += os.read(self.fd, size - len(found))
        return found


@pytest.fixture
def terminal() -> Iterator[Pty]:
    terminal = Pty()
    yield terminal
    terminal.unplug()


async def test_octets_go_both_ways(terminal):
    async with await open_port(terminal.path, 115200) as stream:
        everything = bytes(range(256))
        await stream.send_all(everything)
        with trio.fail_after(HANG_S):
            assert await terminal.read(256) == everything
            os.write(terminal.fd, everything)
            found = b""
            while len(found) < 256:
                found += await stream.receive_some()
        assert found == everything


async def test_more_than_the_terminal_holds(terminal):
    much = bytes(range(256)) * 400
    async with await open_port(terminal.path, 115200) as stream, trio.open_nursery() as nursery:
        nursery.start_soon(stream.send_all, much)
        with trio.fail_after(HANG_S):
            assert await terminal.read(len(much)) == much


async def test_a_read_ends_when_cancelled(terminal):
    async with await open_port(terminal.path, 115200) as stream:
        with trio.move_on_after(0.05) as scope:
            await stream.receive_some()
        assert scope.cancelled_caught


async def test_a_write_that_nobody_takes_ends_when_cancelled(terminal):
    async with await open_port(terminal.path, 115200) as stream:
        with trio.move_on_after(0.1) as scope:
            await stream.send_all(bytes(1_000_000))
        assert scope.cancelled_caught


async def test_waiting_costs_nothing(terminal):
    async with await open_port(terminal.path, 115200) as stream:
        with trio.move_on_after(0.02):
            await stream.receive_some()
        began = time.thread_time()
        with trio.move_on_after(0.2):
            await stream.receive_some()
        assert time.thread_time() - began < 0.05


async def test_a_hang_up_ends_the_stream(terminal):
    async with await open_port(terminal.path, 115200) as stream, trio.open_nursery() as nursery:

        async def unplug():
            await trio.sleep(0.02)
            terminal.unplug()

        nursery.start_soon(unplug)
        with trio.fail_after(HANG_S):
            assert await stream.receive_some() == b""
        with pytest.raises(trio.BrokenResourceError):
            await stream.send_all(b"x" * 10)


async def test_a_second_opener_is_refused(terminal):
    async with await open_port(terminal.path, 115200):
        with pytest.raises(PortError, match="ModemManager") as caught:
            await open_port(terminal.path, 115200)
        assert caught.value.fault is PortFault.BUSY
    async with await open_port(terminal.path, 115200):
        pass


async def test_closing_tells_who_reads(terminal):
    stream = await open_port(terminal.path, 115200)
    async with trio.open_nursery() as nursery:

        async def read():
            with pytest.raises(trio.ClosedResourceError):
                await stream.receive_some()

        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        await stream.aclose()
    await stream.aclose()
    for use in (stream.receive_some, stream.wait_send_all_might_not_block):
        with pytest.raises(trio.ClosedResourceError):
            await use()
    with pytest.raises(trio.ClosedResourceError):
        await stream.send_all(b"x")


async def test_a_cancelled_close_closes(terminal):
    stream = await open_port(terminal.path, 115200)
    with trio.CancelScope() as scope:
        scope.cancel()
        await stream.aclose()
    async with await open_port(terminal.path, 115200):
        pass


async def test_a_cancelled_opening_leaves_nothing_open(terminal, monkeypatch):
    import serial

    real, opened, may_open = serial.Serial, [], threading.Event()

    def slow(*args, **kwargs):
        assert may_open.wait(HANG_S)
        opened.append(real(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(serial, "Serial", slow)
    with trio.move_on_after(0.05) as scope:
        await open_port(terminal.path, 115200)
    assert scope.cancelled_caught
    may_open.set()
    await until_true(lambda: opened and not opened[0].is_open)  # a thread closes it


async def test_a_terminal_pair_has_no_control_lines(terminal):
    async with await open_port(terminal.path, 115200) as stream:
        assert isinstance(stream, SerialStream)
        lines = stream.lines()
        assert lines["cts"] is None
        assert lines["dsr"] is None


async def test_what_is_not_there(tmp_path):
    with pytest.raises(PortError, match="plugged in") as caught:
        await open_port(str(tmp_path / "ttyUSB0"), 115200)
    assert caught.value.fault is PortFault.MISSING
    assert not is_there(str(tmp_path / "ttyUSB0"))
    assert is_there(str(tmp_path))


async def test_what_is_no_terminal(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(PortError, match="serial port"):
        await open_port(str(path), 115200)


async def test_what_may_not_be_opened(terminal, monkeypatch):
    def forbidden(*_, **__):
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("serial.Serial", forbidden)
    with pytest.raises(PortError, match="dialout") as caught:
        await open_port(terminal.path, 115200)
    assert caught.value.fault is PortFault.FORBIDDEN


async def test_a_modem_behind_tcp():
    ended = trio.Event()
    async with trio.open_nursery() as nursery:

        async def echo(stream):
            await stream.send_all(await stream.receive_some())
            with pytest.raises(trio.BrokenResourceError):  # reset: nothing of ours leaves later
                await stream.receive_some()
            ended.set()

        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = listener.socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, echo, [listener])
        url = f"socket://127.0.0.1:{port}"
        assert is_tcp(url)
        assert is_there(url)
        async with await open_port(url, 115200) as stream:
            await stream.send_all(b"AT\r")
            assert await stream.receive_some(10) == b"AT\r"
        await ended.wait()
        nursery.cancel_scope.cancel()
    with pytest.raises(PortError, match="No connection"):
        await open_port(url, 115200)


class PtyStream(trio.abc.Stream):
    """The modem's side as a stream, for the fake."""

    def __init__(self, terminal: Pty) -> None:
        self._terminal = terminal

    async def receive_some(self, max_bytes=None):
        await trio.lowlevel.wait_readable(self._terminal.fd)
        try:
            return os.read(self._terminal.fd, max_bytes or 4096)
        except OSError:
            return b""

    async def send_all(self, data):
        await trio.lowlevel.wait_writable(self._terminal.fd)
        os.write(self._terminal.fd, data)

    async def wait_send_all_might_not_block(self):
        await trio.lowlevel.wait_writable(self._terminal.fd)

    async def aclose(self):
        self._terminal.unplug()
        await trio.lowlevel.checkpoint()


async def test_the_driver_on_a_terminal(terminal, modem, tmp_path):
    """Sends, is unplugged, finds the device at its name again, and sends."""
    name = tmp_path / "usb-modem"
    name.symlink_to(terminal.path)
    settings = ModemSettings(port=str(name), reopen_first_s=0.01, reopen_max_s=0.1)
    driver, context = ModemDriver("sim-1", settings), RecordingContext()
    with trio.fail_after(HANG_S):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(modem.run, PtyStream(terminal))
            await nursery.start(driver.run, context)
            await context.wait_health(HealthState.UP)
            assert isinstance(await driver.submit(segment()), Accepted)
            await context.wait_receipts(1)

            name.unlink()
            terminal.unplug()
            await context.wait_health(HealthState.DOWN)
            assert isinstance(await driver.submit(segment()), Unsent)

            other = Pty()
            name.symlink_to(other.path)
            nursery.start_soon(modem.run, PtyStream(other))
            await context.wait_health(HealthState.UP)
            assert isinstance(await driver.submit(segment()), Accepted)
            nursery.cancel_scope.cancel()
    other.unplug()
