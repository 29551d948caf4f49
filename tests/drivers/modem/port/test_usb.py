"""The rung of the USB reset, on a tree like sysfs's."""

import errno
import os
import threading

import pytest
import trio

from risala.drivers.modem.port.usb import UsbReset, usb_device_of
from risala.plugins.contract import Accepted, HealthState
from risala.plugins.testing.conformance import segment

RESET = 0x5514


class Tree:
    """A stick at hub port 1-1.2 with a serial interface, its names under /dev, and its node."""

    def __init__(self, root) -> None:
        self.sysfs, self.nodes, self.dev = root / "sys", root / "usb", root / "dev"
        stick = self.sysfs / "devices/pci0000:00/usb1/1-1/1-1.2"
        for directory, bus, device in (("1-1", "1", "2"), ("1-1/1-1.2", "1", "14")):
            place = self.sysfs / "devices/pci0000:00/usb1" / directory
            place.mkdir(parents=True, exist_ok=True)
            self._write(place, busnum=bus, devnum=device, idVendor="12d1", idProduct="1001")
        interface = stick / "1-1.2:1.0"
        (interface / "ttyUSB3").mkdir(parents=True)
        tty = self.sysfs / "class/tty/ttyUSB3"
        tty.mkdir(parents=True)
        (tty / "device").symlink_to(interface / "ttyUSB3")
        self.dev.mkdir()
        (self.dev / "ttyUSB3").touch()
        (self.dev / "by-id").symlink_to(self.dev / "ttyUSB3")
        self.node = self.nodes / "001/014"
        self.node.parent.mkdir(parents=True)
        self.node.touch()
        self.port = str(self.dev / "by-id")

    @staticmethod
    def _write(place, **files: str) -> None:
        for name, text in files.items():
            (place / name).write_text(f"{text}\n")

    def reset(self, ioctl) -> UsbReset:
        return UsbReset(self.port, sysfs=self.sysfs, nodes=self.nodes, ioctl=ioctl)


@pytest.fixture
def tree(tmp_path) -> Tree:
    return Tree(tmp_path)


def test_the_stick_behind_a_name(tree):
    device = usb_device_of(tree.port, tree.sysfs, tree.nodes)
    assert (device.name, device.node) == ("1-1.2", tree.node)
    assert (device.vendor, device.product) == ("12d1", "1001")


def test_what_is_on_no_usb(tree, tmp_path):
    board = tree.sysfs / "class/tty/ttyS0"
    board.mkdir()
    (board / "device").symlink_to(tree.sysfs / "devices/pci0000:00")
    (tree.sysfs / "class/tty/ttyX").mkdir()
    for port in ("/dev/ttyS0", "/dev/pts/3", "/dev/ttyX", "socket://10.0.0.2:2000"):
        assert usb_device_of(port, tree.sysfs, tree.nodes) is None


async def test_a_reset_goes_to_its_node(tree):
    done, told = [], []

    def ioctl(descriptor, request, argument):
        done.append((os.path.realpath(f"/proc/self/fd/{descriptor}"), request, argument))

    assert await tree.reset(ioctl)(told.append)
    assert done == [(str(tree.node), RESET, 0)]
    assert told == []


async def test_what_may_not_be_done_is_told_once_with_the_rule_that_allows_it(tree):
    told = []

    def ioctl(*_):
        raise PermissionError(errno.EPERM, "no")

    reset = tree.reset(ioctl)
    assert not await reset(told.append)
    assert not await reset(told.append)
    (text,) = told
    assert 'ATTR{idVendor}=="12d1"' in text
    assert 'ATTR{idProduct}=="1001"' in text


async def test_a_node_that_is_not_there(tree):
    told = []
    tree.node.unlink()
    assert not await tree.reset(lambda *_: None)(told.append)
    assert "was not reset: No such file" in told[0]


async def test_nothing_is_said_where_there_is_no_usb(tree):
    told = []
    reset = UsbReset("/dev/pts/9", sysfs=tree.sysfs, nodes=tree.nodes)
    assert not await reset(told.append)
    assert told == []


async def test_a_reset_that_hangs_is_left_to_itself(tree, mock_clock):
    """The thread hangs; the loop does not."""
    hangs, inside, told = threading.Event(), threading.Event(), []

    def ioctl(*_):
        inside.set()
        hangs.wait(60)

    found = []

    async def run():
        found.append(await tree.reset(ioctl)(told.append))

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await trio.to_thread.run_sync(inside.wait, 60)
            mock_clock.jump(16)
    finally:
        hangs.set()
    assert found == [False]
    assert "did not come back" in told[0]


async def test_the_rung_between_restart_and_opening_anew(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:

        def usb():
            modem.deaf = False

        line.usb = usb
        modem.deaf = True
        await line.context.wait_health(HealthState.DOWN)
        await line.context.wait_health(HealthState.UP)
        assert line.opened == 2
        told = "\n".join(line.context.traces)
        restart, reset = told.index("restart of the modem"), told.index("reset of the USB device")
        assert restart < reset
        assert isinstance(await line.driver.submit(segment()), Accepted)
