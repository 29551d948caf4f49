"""Hangs, unplugs, restarts and garbage, at a scripted modem: what was sent ends in a true state."""

import pytest
import trio

from risala.drivers.modem.serial import PortError, PortFault
from risala.plugins.contract import Accepted, HealthState, Uncertain, Unsent
from risala.plugins.testing.conformance import segment


def traces(line) -> str:
    return "\n".join(line.context.traces)


async def test_a_modem_that_hangs_for_a_moment(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        modem.deaf = True
        await line.context.wait_health(HealthState.DOWN)
        assert isinstance(await line.driver.submit(segment()), Unsent)
        modem.deaf = False
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)
        assert line.opened == 1
        assert "The modem answers again." in traces(line)


@pytest.mark.slow
async def test_a_modem_that_hangs_again_and_again_is_always_found(autojump_clock, modem, new_line):
    """Every twenty minutes, as sticks do: nothing may wear out."""
    async with new_line(modem).run() as line:
        for _ in range(30):
            await trio.sleep(1200)
            modem.deaf = True
            await line.context.wait_health(HealthState.DOWN)
            modem.deaf = False
            await line.context.wait_health(HealthState.UP)
            assert line.details["signal_dbm"] == -73
        assert traces(line).count("The modem answers again.") == 30
        assert line.opened == 1


async def test_a_hang_in_the_middle_of_a_question(autojump_clock, modem, new_line):
    silent = iter([None])
    async with new_line(modem).run() as line:
        modem.replies[r"AT\+CSQ"] = lambda _: next(silent, "+CSQ: 20,99\r\nOK")
        await trio.sleep(200)
        assert line.details["signal_dbm"] == -73
        assert line.opened == 1


async def test_the_whole_ladder(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        modem.deaf = True
        await line.context.wait_until(lambda it: line.opened >= 3)
        told = traces(line)
        rungs = ["escape and resync", "soft reset", "restart of the modem", "opening the port"]
        places = [told.index(rung) for rung in rungs]
        assert places == sorted(places)
        modem.deaf = False
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_hung_in_the_middle_of_a_send(autojump_clock, modem, new_line):
    def hang(_):
        modem.deaf = True

    modem.cmgs = hang
    async with new_line(modem).run() as line:
        assert isinstance(await line.driver.submit(segment()), Uncertain)
        await line.context.wait_until(lambda it: line.opened >= 2)
        modem.deaf, modem.cmgs = False, None
        await line.context.wait_health(HealthState.UP)
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_unplugged_in_the_middle_of_a_send(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:

        def unplug(_):
            line.plugged = False
            line.nursery.start_soon(modem.hang_up)

        modem.cmgs = unplug
        async with trio.open_nursery() as line.nursery:
            outcome = await line.driver.submit(segment())
        assert isinstance(outcome, Uncertain)
        await line.context.wait_until(lambda it: "Waiting for it" in it.healths[-1].text)
        assert isinstance(await line.driver.submit(segment()), Unsent)
        await trio.sleep(1000)
        line.plugged, modem.cmgs = True, None
        await line.context.wait_health(HealthState.UP)
        assert "is back" in traces(line)
        assert isinstance(await line.driver.submit(segment()), Accepted)


async def test_unplugged_at_rest(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        line.plugged = False
        await modem.hang_up()
        await line.context.wait_health(HealthState.DOWN)
        assert isinstance(await line.driver.submit(segment()), Unsent)


async def test_garbage_in_the_middle_of_a_send(autojump_clock, modem, new_line):
    modem.cmgs = lambda _: "garbage!\r\n^RSSI:12\r\n+CMGS: 5\r\n\0\0\r\nOK"
    async with new_line(modem).run() as line:
        outcome = await line.driver.submit(segment())
        assert outcome.raw == "+CMGS: 5"


async def test_a_modem_that_starts_anew_is_set_up_anew(autojump_clock, modem, new_line):
    async with new_line(modem).run() as line:
        set_up = modem.count("AT+CMGF=0")
        await modem.say("RDY")
        await line.context.wait_health(HealthState.DOWN)
        await line.context.wait_health(HealthState.UP)
        assert modem.count("AT+CMGF=0") == set_up + 1


async def test_a_port_that_is_busy(autojump_clock, modem, new_line):
    line = new_line(modem)
    line.faults = [PortError(PortFault.BUSY, "/dev/fake is in use, often by ModemManager.")] * 3
    async with line.run() as line:
        assert line.opened == 4
        assert any("ModemManager" in health.text for health in line.context.healths)


async def test_nothing_is_sent_by_ctrl_z_while_recovering(autojump_clock, modem, new_line):
    """A modem that still holds a body gets ESC, never what would send it."""
    bodies = []
    modem.replies[r"AT\+CMGS=.*"] = None
    async with new_line(modem).run() as line:
        modem.cmgs = bodies.append
        await line.driver.submit(segment())
        await trio.sleep(100)
        assert bodies == []
        assert modem.escapes >= 1
