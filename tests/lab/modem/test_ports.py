"""The port: opened and closed by clients, gone and back, its link, and a modem by TCP."""

import os
import termios

import pytest
import serial
import trio
import trio.testing

from patience import HANG_S
from risala.drivers.modem.port.serial import open_port
from risala.lab.modem.ports import PortLink, PortLinkError, PtyStream
from risala.lab.modem.simulator import ModemConfig, ModemSimulator, PortOpened, Trouble


@pytest.fixture
def path(tmp_path):
    return tmp_path / "modem"


async def ask(stream, command, until=b"OK\r\n"):
    await stream.send_all(command)
    said = b""
    while not said.endswith(until):
        octets = await stream.receive_some(4096)
        assert octets, said
        said += octets
    return said


async def test_clients_come_and_go(path, nursery):
    simulator = ModemSimulator(link=path)
    with trio.fail_after(HANG_S):
        assert await nursery.start(simulator.run) == str(path)
        for _ in range(3):
            async with await open_port(str(path), 115200) as stream:
                await ask(stream, b"AT\r")
        # As a shell does, which does not wait.
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
        os.write(fd, b"AT+CMGF=1\r")
        os.close(fd)
        async with await open_port(str(path), 115200) as stream:
            await ask(stream, b"AT+CMGF?\r", b"+CMGF: 1\r\n\r\nOK\r\n")


async def test_its_line_is_raw(path, nursery):
    simulator = ModemSimulator(link=path)
    await nursery.start(simulator.run)
    fd = os.open(path, os.O_RDWR | os.O_NOCTTY)
    try:
        _, oflag, _, lflag, *_ = termios.tcgetattr(fd)
    finally:
        os.close(fd)
    assert not lflag & (termios.ICANON | termios.ECHO | termios.ISIG)
    assert not oflag & termios.OPOST


async def test_gone_it_hangs_up_and_back_its_link_leads_to_another(path, nursery):
    simulator = ModemSimulator(link=path)
    with trio.fail_after(HANG_S):
        await nursery.start(simulator.run)
        async with await open_port(str(path), 115200) as stream:
            await ask(stream, b"AT\r")
            simulator.vanish(0.1)
            assert await stream.receive_some(4096) == b""
            assert not path.is_symlink()
            assert simulator.path == ""
            await simulator.wait(PortOpened, count=2)
        first, second = (event for event in simulator.events if isinstance(event, PortOpened))
        assert first.link == second.link == str(path)
        assert os.readlink(path) == second.path
        async with await open_port(str(path), 115200) as stream:
            simulator.modem.power.is_listening = True  # without the wait for its start
            await ask(stream, b"AT\r")


async def test_at_its_end_nothing_is_left(path):
    simulator = ModemSimulator(link=path)
    async with trio.open_nursery() as nursery:
        await nursery.start(simulator.run)
        there = os.readlink(path)
        nursery.cancel_scope.cancel()
    assert not path.is_symlink()
    with pytest.raises(FileNotFoundError):
        os.stat(there)


@pytest.mark.parametrize("there", ["file", "link", "folder"])
def test_a_link_writes_over_nothing_of_others(path, there):
    if there == "file":
        path.write_text("mine")
    elif there == "link":
        path.symlink_to("/dev/null")
    else:
        path.mkdir()
    with pytest.raises(PortLinkError, match="modem"):
        PortLink(path).make("/dev/pts/0")
    assert os.path.lexists(path)


def test_a_link_that_another_simulator_left_or_took_over(path):
    path.symlink_to("/dev/pts/999999")
    ours, theirs = PortLink(path), PortLink(path)
    ours.make("/dev/pts/1000000")
    assert os.readlink(path) == "/dev/pts/1000000"
    theirs.make("/dev/pts/1000001")
    ours.remove()
    assert os.readlink(path) == "/dev/pts/1000001"
    theirs.remove()
    assert not os.path.lexists(path)


async def test_nobody_reads_and_it_lives_on(path, nursery):
    simulator = ModemSimulator(link=path)
    with trio.fail_after(HANG_S):
        await nursery.start(simulator.run)
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            while not any(isinstance(event, Trouble) for event in simulator.events):
                try:
                    os.write(fd, b"AT+CLAC\r" * 50)
                except BlockingIOError:
                    await trio.lowlevel.wait_writable(fd)
                await trio.lowlevel.checkpoint()
        finally:
            os.close(fd)
        async with await open_port(str(path), 115200) as stream:
            said = b""
            while b"+CSQ: 20,99" not in said:
                # What it says while all room is taken is lost, this answer too.
                await stream.send_all(b"\rAT+CSQ\r")
                said = said[-20:] + await stream.receive_some(65536)


async def test_by_tcp_one_client_at_a_time(nursery):
    simulator = ModemSimulator(ModemConfig(), listen=("127.0.0.1", 0))
    with trio.fail_after(HANG_S):
        path = await nursery.start(simulator.run)
        async with await open_port(path, 115200) as stream:
            await ask(stream, b"AT\r")
            async with await open_port(path, 115200) as second:
                assert await second.receive_some(1) == b""
            await ask(stream, b"AT\r")
            simulator.vanish()
            assert await stream.receive_some(1) == b""
        async with await open_port(path, 115200) as stream:
            assert await stream.receive_some(1) == b""
        simulator.come_back()
        async with await open_port(path, 115200) as stream:
            simulator.modem.power.is_listening = True
            await ask(stream, b"AT\r")


async def test_a_port_that_is_closed_says_so(path):
    stream = PtyStream()
    async with trio.open_nursery() as nursery:

        async def read():
            with pytest.raises(trio.ClosedResourceError):
                await stream.receive_some(1)

        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        await stream.aclose()
        await stream.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await stream.send_all(b"x")
    with pytest.raises(trio.ClosedResourceError):
        await stream.wait_send_all_might_not_block()


async def test_pyserial_takes_it_for_a_port(path, nursery):
    simulator = ModemSimulator(link=path)
    await nursery.start(simulator.run)

    def client():
        with serial.Serial(str(path), 9600, timeout=HANG_S, exclusive=True) as port:
            port.write(b"AT+CGMM\r")
            return port.read_until(b"OK\r\n")

    assert b"Simulated modem" in await trio.to_thread.run_sync(client)
