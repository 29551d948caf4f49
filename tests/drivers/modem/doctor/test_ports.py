"""Which serial ports are modems."""

import pytest
import trio
from trio.testing import memory_stream_pair

from risala.drivers.modem.doctor.ports import ask_all, candidates, without_port
from risala.drivers.modem.port.host import Host
from risala.drivers.modem.port.serial import PortError, PortFault, PortSeen, ports_seen


@pytest.fixture
def host(tmp_path) -> Host:
    """One stick with two ports."""
    by_id = tmp_path / "dev/serial/by-id"
    by_id.mkdir(parents=True)
    for number in range(2):
        (tmp_path / f"dev/ttyUSB{number}").write_text("")
        (by_id / f"usb-Stick-if0{number}").symlink_to(tmp_path / f"dev/ttyUSB{number}")
    return Host(tmp_path)


def test_each_port_once_by_the_name_that_lasts(host, tmp_path):
    seen = [
        PortSeen("/dev/ttyS0", "ttyS0"),
        PortSeen(str(tmp_path / "dev/ttyUSB0"), "HUAWEI Mobile"),
        PortSeen(str(tmp_path / "dev/ttyUSB1"), ""),
    ]
    found = candidates(host, lambda: seen)
    by_id = tmp_path / "dev/serial/by-id"
    assert [(each.port, each.description) for each in found] == [
        (str(by_id / "usb-Stick-if00"), "HUAWEI Mobile"),
        (str(by_id / "usb-Stick-if01"), ""),
        ("/dev/ttyS0", "ttyS0"),
    ]


def test_a_stick_without_a_port_is_offered_its_driver(host, tmp_path):
    for place, product in (("1-1", "14dc"), ("1-2", "1001")):
        device = tmp_path / "sys/bus/usb/devices" / place
        device.mkdir(parents=True)
        (device / "idVendor").write_text("12d1\n")
        (device / "idProduct").write_text(f"{product}\n")
    [found] = without_port(host)
    assert (found.port, found.device, found.answers) == (
        *("http://192.168.8.1", "USB 12d1:14dc"),
        False,
    )
    assert 'driver = "hilink"' in found.text


def test_what_this_machine_has_can_be_listed():
    assert all(port.device.startswith("/dev/") for port in ports_seen())


async def test_only_what_answers_is_asked_more_and_no_pin_is_typed(
    autojump_clock, host, new_modem, tmp_path
):
    modem, silent = new_modem(), new_modem()
    modem.replies[r"AT\+CPIN\?"] = "+CPIN: SIM PIN\r\n\r\nOK"
    lost = iter([None])
    modem.replies["AT"] = lambda _: next(lost, "OK")
    silent.replies[".*"] = None
    closed = []
    async with trio.open_nursery() as nursery:

        async def open_port(port, baud):
            await trio.lowlevel.checkpoint()
            if port == "/dev/ttyS0":
                raise PortError(PortFault.BUSY, "/dev/ttyS0 is in use by another program.")
            if port == "/dev/ttyS1":
                await trio.sleep_forever()
            ours, theirs = memory_stream_pair()
            ours.send_stream.close_hook = lambda: closed.append(port)
            nursery.start_soon((modem if port.endswith("00") else silent).run, theirs)
            return ours

        seen = [PortSeen("/dev/ttyS0", ""), PortSeen("/dev/ttyS1", "")]
        first, second, busy, stuck = await ask_all(
            candidates(host, lambda: seen), 115200, open_port, holders=lambda _: []
        )
        nursery.cancel_scope.cancel()
    assert (first.answers, first.modem, first.imei) == (True, "Fake F1", "861234567890123")
    assert (second.answers, second.text) == (False, "It does not answer AT.")
    assert (busy.answers, busy.text) == (False, "/dev/ttyS0 is in use by another program.")
    assert (stuck.answers, stuck.text) == (False, "It does not open in time.")
    assert not any(command.startswith("AT+CPIN") for command in modem.commands)
    assert set(silent.commands) == {"AT"}
    assert len(closed) == 2
